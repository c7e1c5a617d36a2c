//===- PartViewModels.cpp - views that pick a part of their base ----------===//
//
// select, slice and narrow: each has a scatter op of its own, and a range in
// which eager PyTorch lets it be taken.
//
//===----------------------------------------------------------------------===//

#include "ViewModels.h"

#include "ssa-compiler/Dialect/Torch/IR/TorchBuilders.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ssa_compiler;
using namespace ssa_compiler::torch;

using Check = ViewModel::Check;

namespace {

/// Views with a scatter op of their own that takes the same operands.
class ScatterView : public ViewModel {
public:
  explicit ScatterView(StringRef scatterName) : scatterName(scatterName) {}

  StringRef getScatterName() const override { return scatterName; }

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

static std::string describeDimension(Value base, int64_t dim) {
  int64_t size = cast<BaseTensorType>(base.getType()).getSizes()[dim];
  std::string text = "dimension " + std::to_string(dim);
  if (size != kUnknownSize)
    text += " with size " + std::to_string(size);
  return text;
}

/// Removes the bit of one dimension.
static void dropDimension(llvm::SmallBitVector &bits, unsigned dim) {
  for (unsigned index = dim; index + 1 < bits.size(); ++index)
    bits[index] = bits[index + 1];
  bits.resize(bits.size() - 1);
}

/// `select.int(dim, index)`: index in [-size, size).
class SelectView final : public ScatterView {
public:
  using ScatterView::ScatterView;

  FailureOr<Value> buildAssign(OpBuilder &builder, Location loc,
                               const ViewInstance &view,
                               Value source) const override {
    if (isWhole(view))
      return buildOp(builder, loc, "torch.aten.unsqueeze", view.base.getType(),
                     {source, view.params[0]});
    return ScatterView::buildAssign(builder, loc, view, source);
  }

  bool assignKeepsBase(const ViewInstance &view, Value) const override {
    return !isWhole(view);
  }

  bool areDisjoint(const ViewInstance &first,
                   const ViewInstance &second) const override {
    std::optional<int64_t> firstSlot = getSlot(first);
    std::optional<int64_t> secondSlot = getSlot(second);
    return firstSlot && secondSlot && *firstSlot != *secondSlot &&
           getDimension(first.base, first.params[0]) ==
               getDimension(second.base, second.params[0]);
  }

  bool followRepeated(const ViewInstance &view, Type resultType,
                      llvm::SmallBitVector &repeated) const override {
    std::optional<int64_t> dim = getDimension(view.base, view.params[0]);
    if (repeated.none() || !dim)
      return ViewModel::followRepeated(view, resultType, repeated);
    if (repeated[*dim] && getIntConstant(view.params[1]) != 0)
      return false;
    dropDimension(repeated, *dim);
    return true;
  }

  bool followStridedSlice(const ViewInstance &view, Type resultType,
                          StridedSlice &slice) const override {
    std::optional<int64_t> dim = getDimension(view.base, view.params[0]);
    if (!dim)
      return false;
    if (int64_t along = slice.shown[*dim]; along != StridedSlice::kNone) {
      StridedSlice::Dimension &dimension = slice.dimensions[along];
      dimension.offsets.push_back(
          {view.params[1], Value(), view.base, *dim, dimension.stride});
    }
    slice.shown.erase(slice.shown.begin() + *dim);
    return hideUnits(resultType, slice);
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
  /// True if the view shows the only slot of a dimension: all of its base.
  static bool isWhole(const ViewInstance &view) {
    std::optional<int64_t> dim = getDimension(view.base, view.params[0]);
    return dim && getSlot(view) &&
           cast<BaseTensorType>(view.base.getType()).getSizes()[*dim] == 1;
  }

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

/// `slice.Tensor(dim, start, end, step)`.
class SliceView final : public ScatterView {
public:
  using ScatterView::ScatterView;

  bool followRepeated(const ViewInstance &view, Type resultType,
                      llvm::SmallBitVector &repeated) const override {
    std::optional<int64_t> dim = getDimension(view.base, view.params[0]);
    if (repeated.none() || !dim)
      return ViewModel::followRepeated(view, resultType, repeated);
    if (!repeated[*dim])
      return true;
    Value start = view.params[1];
    if (!isa<torch::NoneType>(start.getType()) && getIntConstant(start) != 0)
      return false;
    auto type = cast<BaseTensorType>(resultType);
    if (type.hasSizes() && type.getSizes()[*dim] == 1)
      repeated.reset(*dim);
    return true;
  }

  bool followStridedSlice(const ViewInstance &view, Type resultType,
                          StridedSlice &slice) const override {
    std::optional<int64_t> dim = getDimension(view.base, view.params[0]);
    std::optional<int64_t> step = getIntConstant(view.params[3]);
    if (!dim || !step || *step < 1)
      return false;
    int64_t along = slice.shown[*dim];
    if (along == StridedSlice::kNone)
      return cast<BaseTensorType>(resultType).getSizes()[*dim] == 1;
    StridedSlice::Dimension &dimension = slice.dimensions[along];
    dimension.offsets.push_back(
        {view.params[1], view.params[2], view.base, *dim, dimension.stride});
    dimension.stride *= *step;
    return hideUnits(resultType, slice);
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
    Value last = arith::SubIOp::create(builder, loc, size, length);
    checks.push_back(
        {arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, wrapped,
                               last),
         "RuntimeError: start + length exceeds " +
             describeDimension(base, *dim)});
  }
};

} // namespace

void torch::addPartViewModels(AddViewModelFn add) {
  add("torch.aten.select.int",
      std::make_unique<SelectView>("torch.aten.select_scatter"));
  add("torch.aten.slice.Tensor",
      std::make_unique<SliceView>("torch.aten.slice_scatter"));
  add("torch.aten.narrow", std::make_unique<NarrowView>());
}
