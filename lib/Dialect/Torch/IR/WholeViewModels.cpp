//===- WholeViewModels.cpp - views that show every element ----------------===//
//
// Views that keep the elements in order (view, squeeze, ...), permute
// dimensions, repeat elements (expand, unfold), are the base itself, or need
// the generic model.
//
//===----------------------------------------------------------------------===//

#include "ViewModels.h"

#include "ssa-compiler/Dialect/Torch/IR/TorchBuilders.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"

using namespace mlir;
using namespace ssa_compiler;
using namespace ssa_compiler::torch;

namespace {

/// Views that keep the elements in order: view, flatten, squeeze, unsqueeze,
/// ...
class ReshapeView : public ViewModel {
public:
  FailureOr<Value> buildAssign(OpBuilder &builder, Location loc,
                               const ViewInstance &view,
                               Value source) const override {
    if (!cast<BaseTensorType>(view.base.getType()).hasSizes())
      return emitError(loc) << "unsupported: '" << view.name
                            << "' of a tensor of unknown rank is written";
    return buildViewAs(builder, loc, source, view.base);
  }
};

/// Views that another op with the same operands undoes: unsqueeze by
/// squeeze.dim, transpose.int by itself.
class InvertibleView final : public ViewModel {
public:
  explicit InvertibleView(StringRef inverse) : inverse(inverse) {}

  FailureOr<Value> buildAssign(OpBuilder &builder, Location loc,
                               const ViewInstance &view,
                               Value source) const override {
    SmallVector<Value> operands{source};
    llvm::append_range(operands, view.params);
    bool isOwn = inverse == view.name && view.schema;
    return createTorchOp(builder, loc, inverse, view.base.getType(), operands,
                         isOwn ? view.schema.getValue() : StringRef())
        ->getResult(0);
  }

private:
  StringRef inverse;
};

/// `squeeze.dim(dim)`: unsqueeze where it dropped a dimension.
class SqueezeDimView final : public ReshapeView {
public:
  FailureOr<Value> buildAssign(OpBuilder &builder, Location loc,
                               const ViewInstance &view,
                               Value source) const override {
    auto baseType = cast<BaseTensorType>(view.base.getType());
    auto sourceType = cast<BaseTensorType>(source.getType());
    if (baseType.hasSizes() && sourceType.hasSizes() &&
        baseType.getSizes().size() == sourceType.getSizes().size() + 1)
      return buildOp(builder, loc, "torch.aten.unsqueeze", baseType,
                     {source, view.params[0]});
    return ReshapeView::buildAssign(builder, loc, view, source);
  }
};

/// `permute(dims)`: the inverse permutation.
class PermuteView final : public ViewModel {
public:
  FailureOr<Value> buildAssign(OpBuilder &builder, Location loc,
                               const ViewInstance &view,
                               Value source) const override {
    std::optional<SmallVector<int64_t>> dims =
        getIntListConstant(view.params[0]);
    if (!dims)
      return emitError(loc)
             << "unsupported: a permutation that is not constant is written";
    int64_t rank = dims->size();
    SmallVector<Value> inverse(rank);
    for (auto [position, dim] : llvm::enumerate(*dims)) {
      int64_t index = dim < 0 ? dim + rank : dim;
      if (index < 0 || index >= rank || inverse[index])
        return emitError(loc)
               << "expected a permutation of " << rank << " dimensions";
      inverse[index] = createIntConstant(builder, loc, position);
    }
    return buildOp(builder, loc, "torch.aten.permute", view.base.getType(),
                   {source, createIntList(builder, loc, inverse)});
  }
};

/// Views that are the base itself, perhaps with a more or less precise type.
class IdentityView final : public ViewModel {
public:
  FailureOr<Value> buildAssign(OpBuilder &builder, Location loc,
                               const ViewInstance &view,
                               Value source) const override {
    if (source.getType() == view.base.getType())
      return source;
    if (!TensorStaticInfoCastOp::areCastCompatible(source.getType(),
                                                   view.base.getType()))
      return emitError(loc)
             << "unsupported: a write of " << source.getType() << " through '"
             << view.name << "' into " << view.base.getType();
    return TensorStaticInfoCastOp::create(builder, loc, view.base.getType(),
                                          source)
        .getResult();
  }
};

//===----------------------------------------------------------------------===//
// Views that show elements several times
//===----------------------------------------------------------------------===//

/// `expand(sizes)`: writable only where nothing is repeated.
class ExpandView final : public ReshapeView {
public:
  FailureOr<Value> buildAssign(OpBuilder &builder, Location loc,
                               const ViewInstance &view,
                               Value source) const override {
    auto count = [](Value tensor) -> std::optional<int64_t> {
      auto type = cast<BaseTensorType>(tensor.getType());
      if (!type.areAllSizesKnown())
        return std::nullopt;
      int64_t product = 1;
      for (int64_t size : type.getSizes())
        product *= size;
      return product;
    };
    std::optional<int64_t> baseCount = count(view.base);
    if (!baseCount || baseCount != count(source))
      return emitError(loc) << "unsupported: a write through '" << view.name
                            << "', which shows one element several times; "
                               "clone() the tensor before the write";
    return ReshapeView::buildAssign(builder, loc, view, source);
  }
};

/// `unfold(dim, size, step)`: windows that must not overlap when written.
class UnfoldView final : public ViewModel {
public:
  FailureOr<Value> buildAssign(OpBuilder &builder, Location loc,
                               const ViewInstance &view,
                               Value source) const override {
    std::optional<int64_t> size = getIntConstant(view.params[1]);
    std::optional<int64_t> step = getIntConstant(view.params[2]);
    if (!size || !step || *step < *size)
      return emitError(loc) << "unsupported: a write through '" << view.name
                            << "', whose windows may overlap; clone() the "
                               "tensor before the write";
    return ViewModel::buildAssign(builder, loc, view, source);
  }
};

} // namespace

void torch::addWholeViewModels(AddViewModelFn add) {
  for (StringRef name : {"torch.aten.view", "torch.aten.flatten.using_ints",
                         "torch.aten.unflatten.int", "torch.aten.squeeze",
                         "torch.aten.squeeze.dims"})
    add(name, std::make_unique<ReshapeView>());
  add("torch.aten.unsqueeze",
      std::make_unique<InvertibleView>("torch.aten.squeeze.dim"));
  add("torch.aten.squeeze.dim", std::make_unique<SqueezeDimView>());
  add("torch.aten.transpose.int",
      std::make_unique<InvertibleView>("torch.aten.transpose.int"));
  add("torch.aten.t", std::make_unique<InvertibleView>("torch.aten.t"));
  add("torch.aten.view_as_real",
      std::make_unique<InvertibleView>("torch.aten.view_as_complex"));
  add("torch.aten.view_as_complex",
      std::make_unique<InvertibleView>("torch.aten.view_as_real"));
  for (StringRef name : {"torch.aten._conj", "torch.aten._neg_view"})
    add(name, std::make_unique<InvertibleView>(name));
  add("torch.aten.permute", std::make_unique<PermuteView>());
  for (StringRef name : {"torch.aten.alias", "torch.aten.detach",
                         "torch.tensor_static_info_cast"})
    add(name, std::make_unique<IdentityView>());
  for (StringRef name : {"torch.aten.expand", "torch.aten.broadcast_to"})
    add(name, std::make_unique<ExpandView>());
  add("torch.aten.unfold", std::make_unique<UnfoldView>());
  for (StringRef name : {"torch.aten.diagonal", "torch.aten.movedim.int",
                         "torch.aten.movedim.intlist"})
    add(name, std::make_unique<ViewModel>());
}
