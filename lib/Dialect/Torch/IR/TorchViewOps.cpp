//===- TorchViewOps.cpp - how views are read, written and checked ---------===//
//
// The view models, by what a view does to the elements of its base: it picks
// one slice (select, slice, narrow), keeps all elements in order (view,
// squeeze, ...), permutes dimensions, repeats elements (expand), is the base
// itself, or none of these (the generic model).
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Dialect/Torch/IR/TorchViewOps.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchBuilders.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/ManagedStatic.h"

using namespace mlir;
using namespace ssa_compiler;
using namespace ssa_compiler::torch;

using Check = ViewModel::Check;

ViewModel::~ViewModel() = default;

void ViewModel::buildChecks(OpBuilder &, Location, Value, ValueRange,
                            SmallVectorImpl<Check> &) const {}

bool ViewModel::areDisjoint(const ViewInstance &, const ViewInstance &) const {
  return false;
}

Value ViewModel::buildAccess(OpBuilder &builder, Location loc,
                             const ViewInstance &view, Type resultType) const {
  SmallVector<Value> operands{view.base};
  llvm::append_range(operands, view.params);
  return createTorchOp(builder, loc, view.name, resultType, operands,
                       view.schema ? view.schema.getValue() : StringRef())
      ->getResult(0);
}

/// Builds a torch op with one result.
static Value buildOp(OpBuilder &builder, Location loc, StringRef name,
                     Type resultType, ValueRange operands) {
  return createTorchOp(builder, loc, name, resultType, operands)->getResult(0);
}

/// Builds a view of `tensor` with the sizes of `like`.
static Value buildViewAs(OpBuilder &builder, Location loc, Value tensor,
                         Value like) {
  auto likeType = cast<BaseTensorType>(like.getType());
  auto type = cast<BaseTensorType>(tensor.getType())
                  .getWithSizesAndDtype(likeType.getOptionalSizes(),
                                        likeType.getOptionalDtype());
  return buildOp(builder, loc, "torch.aten.view", type,
                 {tensor, createSizeList(builder, loc, like)});
}

//===----------------------------------------------------------------------===//
// The generic model
//===----------------------------------------------------------------------===//

FailureOr<Value> ViewModel::buildAssign(OpBuilder &builder, Location loc,
                                        const ViewInstance &view,
                                        Value source) const {
  auto baseType = cast<ValueTensorType>(view.base.getType());
  auto sourceType = cast<ValueTensorType>(source.getType());
  if (!baseType.hasSizes() || !sourceType.hasSizes())
    return emitError(loc) << "unsupported: '" << view.name
                          << "' of a tensor of unknown rank is written";
  MLIRContext *context = builder.getContext();
  auto numElements = [](ValueTensorType type) {
    int64_t count = 1;
    for (int64_t size : type.getSizes())
      count = size == kUnknownSize || count == kUnknownSize ? kUnknownSize
                                                            : count * size;
    return count;
  };
  int64_t baseCount = numElements(baseType);
  Type positionType = IntegerType::get(context, 64, IntegerType::Signed);
  auto flat = [&](int64_t count, Type dtype) {
    return ValueTensorType::get(context, ArrayRef<int64_t>{count}, dtype);
  };
  Value minusOne = createIntConstant(builder, loc, -1);
  Value zero = createIntConstant(builder, loc, 0);
  Value flatSizes = createIntList(builder, loc, minusOne);

  Value count;
  if (baseCount != kUnknownSize) {
    count = createIntConstant(builder, loc, baseCount);
  } else {
    count = createIntConstant(builder, loc, 1);
    for (size_t dim = 0; dim < baseType.getSizes().size(); ++dim)
      count = buildOp(builder, loc, "torch.aten.mul.int", IntType::get(context),
                      {count, createSize(builder, loc, view.base, dim)});
  }
  // 4 is torch.int64 in PyTorch's ScalarType.
  Value none = createNoneConstant(builder, loc);
  Value positions =
      buildOp(builder, loc, "torch.aten.arange", flat(baseCount, positionType),
              {count, createIntConstant(builder, loc, 4), none, none, none});
  Value shaped = buildOp(
      builder, loc, "torch.aten.view",
      baseType.getWithSizesAndDtype(baseType.getOptionalSizes(), positionType),
      {positions, createSizeList(builder, loc, view.base)});
  ViewInstance ofPositions = view;
  ofPositions.base = shaped;
  Value seen = buildAccess(builder, loc, ofPositions,
                           sourceType.getWithSizesAndDtype(
                               sourceType.getOptionalSizes(), positionType));
  auto flatten = [&](Value tensor) {
    auto type = cast<ValueTensorType>(tensor.getType());
    return buildOp(builder, loc, "torch.aten.reshape",
                   flat(numElements(type), type.getDtype()),
                   {tensor, flatSizes});
  };
  Value flatBase = flatten(view.base);
  Value scattered =
      buildOp(builder, loc, "torch.aten.scatter.src", flatBase.getType(),
              {flatBase, zero, flatten(seen), flatten(source)});
  return buildViewAs(builder, loc, scattered, view.base);
}

namespace {

//===----------------------------------------------------------------------===//
// Views that pick a part
//===----------------------------------------------------------------------===//

/// Views with a scatter op of their own that takes the same operands.
class ScatterView : public ViewModel {
public:
  explicit ScatterView(StringRef scatterName) : scatterName(scatterName) {}

  FailureOr<Value> buildAssign(OpBuilder &builder, Location loc,
                               const ViewInstance &view,
                               Value source) const override {
    SmallVector<Value> operands{view.base, source};
    llvm::append_range(operands, view.params);
    return buildOp(builder, loc, scatterName, view.base.getType(), operands);
  }

protected:
  StringRef scatterName;
};

/// Builds the size of dimension `dim` as an i64.
static Value buildSize(OpBuilder &builder, Location loc, Value tensor,
                       int64_t dim) {
  auto type = cast<BaseTensorType>(tensor.getType());
  if (type.getSizes()[dim] != kUnknownSize)
    return arith::ConstantIntOp::create(builder, loc, type.getSizes()[dim], 64);
  OperationState state(loc, "torch_c.to_i64",
                       createSize(builder, loc, tensor, dim),
                       builder.getI64Type());
  return builder.create(state)->getResult(0);
}

/// Builds the i64 of a `!torch.int`.
static Value buildI64(OpBuilder &builder, Location loc, Value torchInt) {
  if (Operation *op = torchInt.getDefiningOp();
      op && op->getName().getStringRef() == "torch_c.from_i64")
    return op->getOperand(0);
  if (std::optional<int64_t> constant = getIntConstant(torchInt))
    return arith::ConstantIntOp::create(builder, loc, *constant, 64);
  OperationState state(loc, "torch_c.to_i64", torchInt, builder.getI64Type());
  return builder.create(state)->getResult(0);
}

/// Builds `low <= value && value <= high` (or `< high`).
static Value buildInRange(OpBuilder &builder, Location loc, Value low,
                          Value value, Value high, bool inclusive) {
  Value notBelow = arith::CmpIOp::create(builder, loc,
                                         arith::CmpIPredicate::sge, value, low);
  Value notAbove = arith::CmpIOp::create(builder, loc,
                                         inclusive ? arith::CmpIPredicate::sle
                                                   : arith::CmpIPredicate::slt,
                                         value, high);
  return arith::AndIOp::create(builder, loc, notBelow, notAbove);
}

/// The dimension that `dim` names, counted from 0, if it and the rank are
/// known.
static std::optional<int64_t> getDimension(Value base, Value dim) {
  auto type = cast<BaseTensorType>(base.getType());
  std::optional<int64_t> constant = getIntConstant(dim);
  if (!constant || !type.hasSizes())
    return std::nullopt;
  int64_t rank = type.getSizes().size();
  int64_t index = *constant < 0 ? *constant + rank : *constant;
  if (index < 0 || index >= rank)
    return std::nullopt;
  return index;
}

static std::string describeDimension(Value base, int64_t dim) {
  int64_t size = cast<BaseTensorType>(base.getType()).getSizes()[dim];
  std::string text = "dimension " + std::to_string(dim);
  if (size != kUnknownSize)
    text += " with size " + std::to_string(size);
  return text;
}

/// `select.int(dim, index)`: index in [-size, size).
class SelectView final : public ScatterView {
public:
  using ScatterView::ScatterView;

  FailureOr<Value> buildAssign(OpBuilder &builder, Location loc,
                               const ViewInstance &view,
                               Value source) const override {
    // The only slot of a dimension is the whole tensor.
    std::optional<int64_t> dim = getDimension(view.base, view.params[0]);
    if (dim && getSlot(view) &&
        cast<BaseTensorType>(view.base.getType()).getSizes()[*dim] == 1)
      return buildOp(builder, loc, "torch.aten.unsqueeze", view.base.getType(),
                     {source, view.params[0]});
    return ScatterView::buildAssign(builder, loc, view, source);
  }

  bool areDisjoint(const ViewInstance &first,
                   const ViewInstance &second) const override {
    std::optional<int64_t> firstSlot = getSlot(first);
    std::optional<int64_t> secondSlot = getSlot(second);
    return firstSlot && secondSlot && *firstSlot != *secondSlot &&
           getDimension(first.base, first.params[0]) ==
               getDimension(second.base, second.params[0]);
  }

  void buildChecks(OpBuilder &builder, Location loc, Value base,
                   ValueRange params,
                   SmallVectorImpl<Check> &checks) const override {
    std::optional<int64_t> dim = getDimension(base, params[0]);
    if (!dim)
      return;
    int64_t size = cast<BaseTensorType>(base.getType()).getSizes()[*dim];
    std::optional<int64_t> index = getIntConstant(params[1]);
    if (index && size != kUnknownSize && -size <= *index && *index < size)
      return;
    Value high = buildSize(builder, loc, base, *dim);
    Value zero = arith::ConstantIntOp::create(builder, loc, 0, 64);
    Value low = arith::SubIOp::create(builder, loc, zero, high);
    checks.push_back(
        {buildInRange(builder, loc, low, buildI64(builder, loc, params[1]),
                      high, /*inclusive=*/false),
         "IndexError: index is out of bounds for " +
             describeDimension(base, *dim)});
  }

private:
  /// The constant index, counted from 0, within a known size.
  static std::optional<int64_t> getSlot(const ViewInstance &view) {
    std::optional<int64_t> dim = getDimension(view.base, view.params[0]);
    std::optional<int64_t> index = getIntConstant(view.params[1]);
    if (!dim || !index)
      return std::nullopt;
    int64_t size = cast<BaseTensorType>(view.base.getType()).getSizes()[*dim];
    if (size == kUnknownSize || *index < -size || *index >= size)
      return std::nullopt;
    return *index < 0 ? *index + size : *index;
  }
};

/// `narrow(dim, start, length)`: start in [-size, size], start + length <=
/// size.
class NarrowView final : public ViewModel {
public:
  FailureOr<Value> buildAssign(OpBuilder &builder, Location loc,
                               const ViewInstance &view,
                               Value source) const override {
    std::optional<int64_t> dim = getDimension(view.base, view.params[0]);
    if (!dim)
      return emitError(loc)
             << "unsupported: narrow along an unknown dimension is written";
    Type intType = IntType::get(builder.getContext());
    auto add = [&](Value lhs, Value rhs) {
      return buildOp(builder, loc, "torch.aten.add.int", intType, {lhs, rhs});
    };
    Value start = view.params[1];
    std::optional<int64_t> constant = getIntConstant(start);
    if (!constant || *constant < 0) {
      // A negative start counts from the end.
      Value isNegative = buildOp(builder, loc, "torch.aten.lt.int",
                                 BoolType::get(builder.getContext()),
                                 {start, createIntConstant(builder, loc, 0)});
      Value factor =
          buildOp(builder, loc, "torch.aten.Int.bool", intType, isNegative);
      Value size = createSize(builder, loc, view.base, *dim);
      start = add(start, buildOp(builder, loc, "torch.aten.mul.int", intType,
                                 {factor, size}));
    }
    Value end = add(start, view.params[2]);
    return buildOp(builder, loc, "torch.aten.slice_scatter",
                   view.base.getType(),
                   {view.base, source, view.params[0], start, end,
                    createIntConstant(builder, loc, 1)});
  }

  void buildChecks(OpBuilder &builder, Location loc, Value base,
                   ValueRange params,
                   SmallVectorImpl<Check> &checks) const override {
    std::optional<int64_t> dim = getDimension(base, params[0]);
    if (!dim)
      return;
    int64_t staticSize = cast<BaseTensorType>(base.getType()).getSizes()[*dim];
    std::optional<int64_t> constStart = getIntConstant(params[1]);
    std::optional<int64_t> constLength = getIntConstant(params[2]);
    if (constStart && constLength && staticSize != kUnknownSize &&
        *constLength >= 0 && *constStart >= -staticSize) {
      int64_t start = *constStart < 0 ? *constStart + staticSize : *constStart;
      if (start + *constLength <= staticSize)
        return;
    }
    Value size = buildSize(builder, loc, base, *dim);
    Value start = buildI64(builder, loc, params[1]);
    Value length = buildI64(builder, loc, params[2]);
    Value zero = arith::ConstantIntOp::create(builder, loc, 0, 64);
    Value low = arith::SubIOp::create(builder, loc, zero, size);
    checks.push_back(
        {arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, length,
                               zero),
         "RuntimeError: narrow(): length must be non-negative."});
    checks.push_back(
        {buildInRange(builder, loc, low, start, size, /*inclusive=*/true),
         "IndexError: start out of range for " +
             describeDimension(base, *dim)});
    Value isNegative = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, start, zero);
    Value wrapped = arith::SelectOp::create(
        builder, loc, isNegative,
        arith::AddIOp::create(builder, loc, start, size), start);
    Value room = arith::SubIOp::create(builder, loc, size, length);
    checks.push_back(
        {arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, wrapped,
                               room),
         "RuntimeError: start + length exceeds " +
             describeDimension(base, *dim)});
  }
};

//===----------------------------------------------------------------------===//
// Views that show every element once
//===----------------------------------------------------------------------===//

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
    return buildOp(builder, loc, inverse, view.base.getType(), operands);
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

/// `as_strided(size, stride, offset)`: looks past its base at the storage.
class AsStridedView final : public ViewModel {
public:
  StringRef explainImpure() const override {
    return "depends on the strides of its base; use select, slice or transpose";
  }

  FailureOr<Value> buildAssign(OpBuilder &, Location loc,
                               const ViewInstance &view, Value) const override {
    return emitError(loc) << "unsupported: a write through '" << view.name
                          << "', which " << explainImpure();
  }
};

//===----------------------------------------------------------------------===//
// Registry and interface
//===----------------------------------------------------------------------===//

/// The models by torch name.
struct ViewRegistry {
  ViewRegistry() {
    auto add = [&](StringRef name, std::unique_ptr<ViewModel> model) {
      models[name] = std::move(model);
    };
    add("torch.aten.select.int",
        std::make_unique<SelectView>("torch.aten.select_scatter"));
    add("torch.aten.slice.Tensor",
        std::make_unique<ScatterView>("torch.aten.slice_scatter"));
    add("torch.aten.narrow", std::make_unique<NarrowView>());
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
    add("torch.aten.permute", std::make_unique<PermuteView>());
    for (StringRef name : {"torch.aten.alias", "torch.aten.detach",
                           "torch.tensor_static_info_cast"})
      add(name, std::make_unique<IdentityView>());
    for (StringRef name : {"torch.aten.expand", "torch.aten.broadcast_to"})
      add(name, std::make_unique<ExpandView>());
    add("torch.aten.unfold", std::make_unique<UnfoldView>());
    add("torch.aten.as_strided", std::make_unique<AsStridedView>());
    for (StringRef name : {"torch.aten.diagonal", "torch.aten.movedim.int",
                           "torch.aten.movedim.intlist"})
      add(name, std::make_unique<ViewModel>());
  }
  llvm::StringMap<std::unique_ptr<ViewModel>> models;
};

/// TorchViewOpInterface for ops whose name leads to a model.
template <typename ConcreteModel>
struct ViewInterfaceBase : TorchViewOpInterface::FallbackModel<ConcreteModel> {
  const ViewModel *getViewModel(Operation *op) const {
    // An op that its schema does not fit is left to those who doubt it.
    auto schemaOp = dyn_cast<TorchSchemaOpInterface>(op);
    const Schema *schema = schemaOp ? schemaOp.getSchema() : nullptr;
    if (!schema || schema->arguments.empty() ||
        schema->arguments.size() != op->getNumOperands() ||
        op->getNumResults() != 1 ||
        !isa<BaseTensorType>(op->getOperand(0).getType()) ||
        !isa<BaseTensorType>(op->getResult(0).getType()))
      return nullptr;
    return lookupViewModel(getViewName(op));
  }
  StringRef getViewName(Operation *op) const {
    if (auto schemaOp = dyn_cast<TorchSchemaOpInterface>(op))
      return schemaOp.getTorchName();
    return op->getName().getStringRef();
  }
  StringAttr getViewSchema(Operation *op) const {
    return op->getAttrOfType<StringAttr>("tssa.schema");
  }
};
struct ViewInterface : ViewInterfaceBase<ViewInterface> {};

} // namespace

static llvm::ManagedStatic<ViewRegistry> viewRegistry;

void torch::registerViewModel(StringRef torchName,
                              std::unique_ptr<ViewModel> model) {
  viewRegistry->models[torchName] = std::move(model);
}

const ViewModel *torch::lookupViewModel(StringRef torchName) {
  auto it = viewRegistry->models.find(torchName);
  return it == viewRegistry->models.end() ? nullptr : it->second.get();
}

void torch::registerTorchViewOps(MLIRContext &context) {
  auto attach = [&](StringRef name) {
    if (auto op = RegisteredOperationName::lookup(name, &context))
      op->attachInterface<ViewInterface>();
  };
  for (auto &entry : viewRegistry->models)
    attach(entry.getKey());
  attach(OperatorOp::getOperationName());
}
