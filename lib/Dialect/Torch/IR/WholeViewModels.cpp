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

  bool assignKeepsBase(const ViewInstance &view, Value) const override {
    return !cast<BaseTensorType>(view.base.getType()).hasSizes();
  }

  bool keepsMemory(const ViewInstance &, Type) const override { return true; }

  bool followStridedSlice(const ViewInstance &view, Type resultType,
                          StridedSlice &slice) const override {
    return followUnits(view.base.getType(), resultType,
                       /*keepsSizes=*/false, slice);
  }
};

/// Views that another op with the same operands undoes: unsqueeze by
/// squeeze.dim, view_as_real by view_as_complex.
class InvertibleView : public ViewModel {
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

  bool assignKeepsBase(const ViewInstance &, Value) const override {
    return false;
  }

private:
  StringRef inverse;
};

/// `unsqueeze(dim)`.
class UnsqueezeView final : public InvertibleView {
public:
  using InvertibleView::InvertibleView;

  bool followRepeated(const ViewInstance &view, Type resultType,
                      llvm::SmallBitVector &repeated) const override {
    std::optional<int64_t> dim = getIntConstant(view.params[0]);
    if (repeated.none() || !dim)
      return ViewModel::followRepeated(view, resultType, repeated);
    llvm::SmallBitVector before = repeated;
    int64_t rank = repeated.size() + 1;
    int64_t added = *dim < 0 ? *dim + rank : *dim;
    repeated.resize(rank);
    for (int64_t index = 0; index < rank; ++index)
      repeated[index] =
          index != added && before[index < added ? index : index - 1];
    return true;
  }

  bool keepsMemory(const ViewInstance &, Type) const override { return true; }

  bool followStridedSlice(const ViewInstance &view, Type resultType,
                          StridedSlice &slice) const override {
    return followUnits(view.base.getType(), resultType,
                       /*keepsSizes=*/true, slice);
  }
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

  bool followStridedSlice(const ViewInstance &view, Type resultType,
                          StridedSlice &slice) const override {
    return followUnits(view.base.getType(), resultType,
                       /*keepsSizes=*/true, slice);
  }
};

/// Views that put the dimensions into another order.
class PermutationView : public ViewModel {
public:
  bool followRepeated(const ViewInstance &view, Type resultType,
                      llvm::SmallBitVector &repeated) const override {
    std::optional<SmallVector<int64_t>> order = getOrder(view, repeated.size());
    if (repeated.none() || !order)
      return ViewModel::followRepeated(view, resultType, repeated);
    llvm::SmallBitVector before = repeated;
    for (auto [position, dim] : llvm::enumerate(*order))
      repeated[position] = before[dim];
    return true;
  }

  bool followStridedSlice(const ViewInstance &view, Type resultType,
                          StridedSlice &slice) const override {
    std::optional<SmallVector<int64_t>> order =
        getOrder(view, slice.shown.size());
    if (order)
      followOrder(*order, slice);
    return order.has_value();
  }

protected:
  /// The dimensions of the base, counted from 0, in the order of the view;
  /// nullopt if that is not known.
  virtual std::optional<SmallVector<int64_t>> getOrder(const ViewInstance &view,
                                                       int64_t rank) const = 0;
};

/// `transpose.int(dim0, dim1)`, and `t()`, which swaps two dimensions if there
/// are two: each undoes itself.
class TransposeView final : public PermutationView {
public:
  FailureOr<Value> buildAssign(OpBuilder &builder, Location loc,
                               const ViewInstance &view,
                               Value source) const override {
    SmallVector<Value> operands{source};
    llvm::append_range(operands, view.params);
    return createTorchOp(builder, loc, view.name, view.base.getType(), operands,
                         view.schema ? view.schema.getValue() : StringRef())
        ->getResult(0);
  }

  bool assignKeepsBase(const ViewInstance &, Value) const override {
    return false;
  }

protected:
  std::optional<SmallVector<int64_t>> getOrder(const ViewInstance &view,
                                               int64_t rank) const override {
    std::optional<int64_t> one = 0, other = rank == 2 ? 1 : 0;
    if (!view.params.empty()) {
      one = getDimension(view.base, view.params[0]);
      other = getDimension(view.base, view.params[1]);
    }
    if (!one || !other)
      return std::nullopt;
    auto order = llvm::to_vector(llvm::seq<int64_t>(rank));
    if (rank)
      std::swap(order[*one], order[*other]);
    return order;
  }
};

/// `permute(dims)`: the inverse permutation undoes it.
class PermuteView final : public PermutationView {
public:
  FailureOr<Value> buildAssign(OpBuilder &builder, Location loc,
                               const ViewInstance &view,
                               Value source) const override {
    std::optional<SmallVector<int64_t>> dims =
        getIntListConstant(view.params[0]);
    if (!dims)
      return emitError(loc)
             << "unsupported: a permutation that is not constant is written";
    std::optional<SmallVector<int64_t>> order = getOrder(view, dims->size());
    if (!order)
      return emitError(loc)
             << "expected a permutation of " << dims->size() << " dimensions";
    SmallVector<Value> inverse(order->size());
    for (auto [position, dim] : llvm::enumerate(*order))
      inverse[dim] = createIntConstant(builder, loc, position);
    return buildOp(builder, loc, "torch.aten.permute", view.base.getType(),
                   {source, createIntList(builder, loc, inverse)});
  }

  bool assignKeepsBase(const ViewInstance &view, Value) const override {
    std::optional<SmallVector<int64_t>> dims =
        getIntListConstant(view.params[0]);
    return !dims || !getOrder(view, dims->size());
  }

protected:
  std::optional<SmallVector<int64_t>> getOrder(const ViewInstance &view,
                                               int64_t rank) const override {
    std::optional<SmallVector<int64_t>> dims =
        getIntListConstant(view.params[0]);
    if (!dims || static_cast<int64_t>(dims->size()) != rank)
      return std::nullopt;
    llvm::SmallBitVector seen(rank);
    for (int64_t &dim : *dims) {
      dim = dim < 0 ? dim + rank : dim;
      if (dim < 0 || dim >= rank || seen[dim])
        return std::nullopt;
      seen.set(dim);
    }
    return dims;
  }
};

/// Views that are the base itself, perhaps with a more or less precise type.
class IdentityView final : public ViewModel {
public:
  bool followRepeated(const ViewInstance &, Type,
                      llvm::SmallBitVector &) const override {
    return true;
  }

  bool keepsMemory(const ViewInstance &, Type) const override { return true; }

  bool followStridedSlice(const ViewInstance &, Type resultType,
                          StridedSlice &slice) const override {
    return hideUnits(resultType, slice);
  }

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

  bool assignKeepsBase(const ViewInstance &view, Value source) const override {
    return source.getType() != view.base.getType() &&
           !TensorStaticInfoCastOp::areCastCompatible(source.getType(),
                                                      view.base.getType());
  }
};

//===----------------------------------------------------------------------===//
// Views that show elements several times
//===----------------------------------------------------------------------===//

/// `expand(sizes)`. Of the elements that are one in memory an assign stores the
/// first: what writes through the view has to see to it that it is among those
/// that are written, or that all are written alike (`followRepeated`).
class ExpandView final : public ReshapeView {
public:
  FailureOr<Value> buildAssign(OpBuilder &builder, Location loc,
                               const ViewInstance &view,
                               Value source) const override {
    auto baseType = cast<BaseTensorType>(view.base.getType());
    auto sourceType = cast<BaseTensorType>(source.getType());
    std::optional<int64_t> baseCount = count(baseType);
    if (baseCount && baseCount == count(sourceType))
      return ReshapeView::buildAssign(builder, loc, view, source);
    if (!baseType.hasSizes() || !sourceType.hasSizes() ||
        (!storesNothing(baseType, sourceType) &&
         !knowsRepeated(baseType, sourceType)))
      return emitError(loc) << "unsupported: a write through '" << view.name
                            << "', which shows one element several times; "
                               "clone() the tensor before the write";
    if (storesNothing(baseType, sourceType))
      return view.base;
    size_t added = sourceType.getSizes().size() - baseType.getSizes().size();
    Value zero = createIntConstant(builder, loc, 0);
    Value one = createIntConstant(builder, loc, 1);
    SmallVector<int64_t> sizes(sourceType.getSizes());
    auto getType = [&](ArrayRef<int64_t> shape) {
      return sourceType.getWithSizesAndDtype(shape,
                                             sourceType.getOptionalDtype());
    };
    for (size_t dim = 0; dim < added; ++dim) {
      sizes.erase(sizes.begin());
      source = buildOp(builder, loc, "torch.aten.select.int", getType(sizes),
                       {source, zero, zero});
    }
    for (auto [dim, size] : llvm::enumerate(baseType.getSizes())) {
      if (size == sizes[dim])
        continue;
      sizes[dim] = 1;
      source = buildOp(
          builder, loc, "torch.aten.slice.Tensor", getType(sizes),
          {source, createIntConstant(builder, loc, dim), zero, one, one});
    }
    return source;
  }

  bool assignKeepsBase(const ViewInstance &view, Value source) const override {
    auto baseType = cast<BaseTensorType>(view.base.getType());
    auto sourceType = cast<BaseTensorType>(source.getType());
    std::optional<int64_t> baseCount = count(baseType);
    if (baseCount && baseCount == count(sourceType))
      return false;
    return !baseType.hasSizes() || !sourceType.hasSizes() ||
           (!storesNothing(baseType, sourceType) &&
            !knowsRepeated(baseType, sourceType));
  }

  bool followRepeated(const ViewInstance &view, Type resultType,
                      llvm::SmallBitVector &repeated) const override {
    auto baseType = cast<BaseTensorType>(view.base.getType());
    auto type = cast<BaseTensorType>(resultType);
    if (!baseType.hasSizes() || !type.hasSizes())
      return false;
    size_t added = type.getSizes().size() - baseType.getSizes().size();
    llvm::SmallBitVector before = repeated;
    repeated.resize(type.getSizes().size());
    for (auto [dim, size] : llvm::enumerate(type.getSizes())) {
      if (dim < added) {
        repeated[dim] = size != 1;
        continue;
      }
      int64_t old = baseType.getSizes()[dim - added];
      repeated[dim] =
          before[dim - added] || (old != size && old != kUnknownSize) ||
          (old == kUnknownSize && size != kUnknownSize && size != 1);
    }
    return true;
  }

  bool keepsMemory(const ViewInstance &view, Type resultType) const override {
    std::optional<int64_t> baseCount =
        count(cast<BaseTensorType>(view.base.getType()));
    return baseCount && baseCount == count(cast<BaseTensorType>(resultType));
  }

private:
  /// True if some repetition happens no time.
  static bool storesNothing(BaseTensorType base, BaseTensorType source) {
    size_t added = source.getSizes().size() - base.getSizes().size();
    for (auto [dim, size] : llvm::enumerate(source.getSizes()))
      if (size == 0 && (dim < added || base.getSizes()[dim - added] != 0))
        return true;
    return false;
  }

  /// True if it is known which dimensions are repeated.
  static bool knowsRepeated(BaseTensorType base, BaseTensorType source) {
    size_t added = source.getSizes().size() - base.getSizes().size();
    for (auto [dim, size] : llvm::enumerate(source.getSizes()))
      if (size == kUnknownSize ||
          (dim >= added && base.getSizes()[dim - added] != size &&
           base.getSizes()[dim - added] != 1))
        return false;
    return true;
  }

  /// The number of elements, if it is known.
  static std::optional<int64_t> count(BaseTensorType type) {
    if (!type.areAllSizesKnown())
      return std::nullopt;
    int64_t product = 1;
    for (int64_t size : type.getSizes())
      product *= size;
    return product;
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
    bool mayOverlap = !size || !step || *step < *size;
    // A single window overlaps no other.
    std::optional<int64_t> dim = getDimension(view.base, view.params[0]);
    if (auto type = cast<BaseTensorType>(source.getType());
        dim && type.hasSizes() && type.getSizes()[*dim] == 1)
      mayOverlap = false;
    if (mayOverlap)
      return emitError(loc) << "unsupported: a write through '" << view.name
                            << "', whose windows may overlap; clone() the "
                               "windows, whose write then leaves the tensor";
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
      std::make_unique<UnsqueezeView>("torch.aten.squeeze.dim"));
  add("torch.aten.squeeze.dim", std::make_unique<SqueezeDimView>());
  add("torch.aten.transpose.int", std::make_unique<TransposeView>());
  add("torch.aten.t", std::make_unique<TransposeView>());
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
