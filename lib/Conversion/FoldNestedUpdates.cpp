//===- FoldNestedUpdates.cpp - one store for a view of a view -------------===//
//
// Puts one `tensor.insert_slice` in the place of the stores of a nest
// (NestedUpdates.h).
//
//===----------------------------------------------------------------------===//

#include "NestedUpdates.h"
#include "TensorTypes.h"
#include "TorchScalarsToArith.h"

#include "ssa-compiler/Conversion/Passes.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchBuilders.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOpInterfaces.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchViewOps.h"
#include "ssa-compiler/Dialect/TorchConversion/IR/TorchConversionDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_FOLDNESTEDUPDATESPASS
#include "ssa-compiler/Conversion/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;
using torch::BaseTensorType;
using torch::StridedSlice;
using torch::TorchViewOpInterface;

/// How many elements of a dimension lie from the first to the last of `size`
/// that a strided slice shows; at least 1.
static int64_t getExtent(int64_t size,
                         const StridedSlice::Dimension &dimension) {
  return size == torch::kUnknownSize ? 1 : (size - 1) * dimension.stride + 1;
}

/// True if the dimensions of known size 1, and only those, are not shown, and
/// the dtype is that of the base: what an insert_slice takes.
static bool canInsert(const Insertion &insertion, Value into) {
  auto values = cast<BaseTensorType>(insertion.values.getType());
  auto base = cast<BaseTensorType>(into.getType());
  if (!values.getOptionalDtype() ||
      values.getOptionalDtype() != base.getOptionalDtype())
    return false;
  for (auto [size, along] :
       llvm::zip_equal(values.getSizes(), insertion.slice.shown)) {
    if ((size == 1) != (along == StridedSlice::kNone))
      return false;
    // The types of a program that is wrong may say anything.
    if (along != StridedSlice::kNone &&
        base.getSizes()[along] != torch::kUnknownSize &&
        getExtent(size, insertion.slice.dimensions[along]) >
            base.getSizes()[along])
      return false;
  }
  return isa<torch::ValueTensorType>(base) &&
         isa<torch::ValueTensorType>(values);
}

/// Builds the values with the dimensions that run along some of the base, in
/// its order.
static Value buildOrdered(OpBuilder &builder, Location loc,
                          const Insertion &insertion) {
  Value values = insertion.values;
  SmallVector<int64_t> along;
  for (int64_t dim = insertion.slice.shown.size() - 1; dim >= 0; --dim) {
    if (insertion.slice.shown[dim] != StridedSlice::kNone) {
      along.insert(along.begin(), insertion.slice.shown[dim]);
      continue;
    }
    auto type = cast<BaseTensorType>(values.getType());
    SmallVector<int64_t> sizes(type.getSizes());
    sizes.erase(sizes.begin() + dim);
    values = torch::createTorchOp(
                 builder, loc, "torch.aten.squeeze.dim",
                 type.getWithSizesAndDtype(sizes, type.getOptionalDtype()),
                 {values, torch::createIntConstant(builder, loc, dim)})
                 ->getResult(0);
  }
  auto order = llvm::to_vector(llvm::seq<int64_t>(along.size()));
  llvm::sort(order, [&](int64_t a, int64_t b) { return along[a] < along[b]; });
  if (llvm::is_sorted(along))
    return values;
  auto type = cast<BaseTensorType>(values.getType());
  auto sizes = llvm::map_to_vector(
      order, [&](int64_t dim) { return type.getSizes()[dim]; });
  auto dims = llvm::map_to_vector(order, [&](int64_t dim) {
    return torch::createIntConstant(builder, loc, dim);
  });
  return torch::createTorchOp(
             builder, loc, "torch.aten.permute",
             type.getWithSizesAndDtype(sizes, type.getOptionalDtype()),
             {values, torch::createIntList(builder, loc, dims)})
      ->getResult(0);
}

static Value toBuiltinTensor(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<torch::ValueTensorType>(tensor.getType());
  return builder.createOrFold<torch_c::ToBuiltinTensorOp>(
      loc, convertTensorType(type), tensor);
}

/// Builds the place, from 0 up, that one select or slice adds, as an i64.
static Value buildPlace(OpBuilder &builder, Location loc,
                        const StridedSlice::Offset &offset) {
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantIntOp::create(builder, loc, number, 64);
  };
  if (isa<torch::NoneType>(offset.start.getType()))
    return constant(0);
  int64_t known =
      cast<BaseTensorType>(offset.tensor.getType()).getSizes()[offset.dim];
  Value size = known != torch::kUnknownSize
                   ? constant(known)
                   : builder.createOrFold<arith::IndexCastOp>(
                         loc, builder.getI64Type(),
                         builder.createOrFold<tensor::DimOp>(
                             loc, toBuiltinTensor(builder, loc, offset.tensor),
                             offset.dim));
  Value start = toBuiltinScalar(builder, loc, offset.start);
  Value zero = constant(0);
  auto wrap = [&](Value number) {
    Value fromEnd = builder.createOrFold<arith::AddIOp>(loc, number, size);
    Value isPositive = builder.createOrFold<arith::CmpIOp>(
        loc, arith::CmpIPredicate::sge, number, zero);
    return builder.createOrFold<arith::SelectOp>(loc, isPositive, number,
                                                 fromEnd);
  };
  // Op for op what torch-mlir makes of the view, which counts an index from the
  // start twice: then what is read and what is changed are seen to be one
  // place. The limits are those of slices; an index is within
  // (--torch-insert-bounds-checks).
  Value place = start;
  if (!offset.end) {
    Value isNegative = builder.createOrFold<arith::CmpIOp>(
        loc, arith::CmpIPredicate::slt, place, zero);
    Value number = builder.createOrFold<arith::ExtUIOp>(
        loc, builder.getI64Type(), isNegative);
    Value added = builder.createOrFold<arith::MulIOp>(loc, number, size);
    place = builder.createOrFold<arith::AddIOp>(loc, place, added);
  }
  place = builder.createOrFold<arith::MaxSIOp>(loc, wrap(place), zero);
  place = builder.createOrFold<arith::MinSIOp>(loc, place, size);
  return builder.createOrFold<arith::MulIOp>(loc, place,
                                             constant(offset.stride));
}

/// Builds the index at which the slice begins in a dimension.
static OpFoldResult buildOrigin(OpBuilder &builder, Location loc,
                                const StridedSlice::Dimension &dimension) {
  Value origin = arith::ConstantIntOp::create(builder, loc, 0, 64);
  for (const StridedSlice::Offset &offset : dimension.offsets)
    origin = builder.createOrFold<arith::AddIOp>(
        loc, buildPlace(builder, loc, offset), origin);
  if (std::optional<int64_t> known = getConstantIntValue(origin))
    return builder.getIndexAttr(*known);
  return builder.createOrFold<arith::IndexCastOp>(loc, builder.getIndexType(),
                                                  origin);
}

/// Builds the tensor `into` with the values in the slice.
static Value buildInsertion(const Insertion &insertion, Value into) {
  // Nothing is stored, perhaps at a place behind the last element.
  auto isEmpty = [](Value tensor) {
    return llvm::is_contained(cast<BaseTensorType>(tensor.getType()).getSizes(),
                              0);
  };
  if (isEmpty(insertion.values) || isEmpty(into))
    return into;
  Location loc = insertion.store->getLoc();
  OpBuilder builder(insertion.store->getContext());
  builder.setInsertionPointAfter(insertion.store);
  Value ordered = buildOrdered(builder, loc, insertion);
  Value values = toBuiltinTensor(builder, loc, ordered);
  Value base = toBuiltinTensor(builder, loc, into);
  ArrayRef<int64_t> known = cast<BaseTensorType>(ordered.getType()).getSizes();
  SmallVector<OpFoldResult> offsets, sizes, strides;
  int64_t next = 0;
  for (auto [dim, dimension] : llvm::enumerate(insertion.slice.dimensions)) {
    offsets.push_back(buildOrigin(builder, loc, dimension));
    bool isShown =
        llvm::is_contained(insertion.slice.shown, static_cast<int64_t>(dim));
    // An index that is known to be out of range raises before anything is
    // stored, and a slice from behind the end has no elements; an insertion
    // there would be rejected.
    int64_t whole = cast<BaseTensorType>(into.getType()).getSizes()[dim];
    int64_t extent = isShown ? getExtent(known[next], dimension) : 1;
    if (std::optional<int64_t> origin = getConstantIntValue(offsets.back());
        origin && whole != torch::kUnknownSize && *origin > whole - extent)
      offsets.back() = builder.getIndexAttr(whole - extent);
    if (!isShown) {
      sizes.push_back(builder.getIndexAttr(1));
      strides.push_back(builder.getIndexAttr(1));
      continue;
    }
    if (known[next] != torch::kUnknownSize)
      sizes.push_back(builder.getIndexAttr(known[next]));
    else
      sizes.push_back(builder.createOrFold<tensor::DimOp>(loc, values, next));
    strides.push_back(builder.getIndexAttr(dimension.stride));
    ++next;
  }
  Value put = tensor::InsertSliceOp::create(builder, loc, values, base, offsets,
                                            sizes, strides);
  return torch_c::FromBuiltinTensorOp::create(builder, loc, into.getType(),
                                              put);
}

/// Builds what `value`, a view of `base`, shows of another tensor.
static Value rebuildView(OpBuilder &builder, Value value, Value base,
                         Value other) {
  if (value == base)
    return other;
  TorchViewOpInterface view = getView(value);
  IRMapping mapping;
  mapping.map(view.getBase(),
              rebuildView(builder, view.getBase(), base, other));
  return builder.clone(*view.getOperation(), mapping)->getResult(0);
}

/// True if a nest is more than stores to the base in its own order: those are
/// what they are, in any shape.
static bool isWorthFolding(const Nest &nest) {
  if (nest.members.size() > nest.insertions.size())
    return true;
  std::optional<StridedSlice> seen =
      getStridedSliceIn(nest.base, nest.members.front().view);
  llvm::erase(seen->shown, StridedSlice::kNone);
  return !llvm::is_sorted(seen->shown);
}

namespace {

struct FoldNestedUpdates final
    : ssa_compiler::impl::FoldNestedUpdatesPassBase<FoldNestedUpdates> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (getStore(op) || isa<TorchViewOpInterface>(op))
        ops.push_back(op);
    });
    llvm::SmallDenseSet<Operation *> erased;
    // An outermost store comes after those in it.
    for (Operation *op : llvm::reverse(ops))
      if (!erased.contains(op))
        fold(op, erased);
  }

private:
  void fold(Operation *op, llvm::SmallDenseSet<Operation *> &erased) {
    auto type = dyn_cast<torch::ValueTensorType>(op->getResult(0).getType());
    if (!type || !type.hasSizes())
      return;
    Nest nest;
    StridedSlice whole = StridedSlice::getWhole(op->getResult(0));
    if (!collectNest(op, op->getResult(0), whole, nest) ||
        !isWorthFolding(nest) ||
        !llvm::all_of(nest.insertions, [&](const Insertion &insertion) {
          return canInsert(insertion, nest.base);
        }))
      return;
    SmallVector<Value> made(nest.insertions.size());
    Value newest = nest.base;
    for (size_t index = made.size(); index-- > 0;)
      newest = made[index] = buildInsertion(nest.insertions[index], newest);
    op->getResult(0).replaceAllUsesWith(newest);
    eraseDead(op, erased);
    // What reads a view after a store reads it in the new tensor.
    for (const Member &member : nest.members)
      if (!erased.contains(member.store)) {
        OpBuilder builder(&getContext());
        // The insertion follows its store, unless there was nothing to insert.
        Operation *insertion = made[member.last].getDefiningOp();
        bool follows = insertion &&
                       insertion->getBlock() == member.store->getBlock() &&
                       member.store->isBeforeInBlock(insertion);
        builder.setInsertionPointAfter(follows ? insertion : member.store);
        member.store->getResult(0).replaceAllUsesWith(
            rebuildView(builder, member.view, nest.base, made[member.last]));
        eraseDead(member.store, erased);
      }
    numFolded += made.size();
  }

  /// Erases an op that nothing uses, and what only it used.
  static void eraseDead(Operation *op,
                        llvm::SmallDenseSet<Operation *> &erased) {
    SmallVector<Operation *> pending{op};
    while (!pending.empty()) {
      Operation *dead = pending.pop_back_val();
      if (erased.contains(dead) || !isOpTriviallyDead(dead))
        continue;
      for (Value operand : dead->getOperands())
        if (Operation *maker = operand.getDefiningOp())
          pending.push_back(maker);
      erased.insert(dead);
      dead->erase();
    }
  }
};

} // namespace
