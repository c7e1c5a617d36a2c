//===- SizeOrigins.cpp - where the sizes of tensors come from -------------===//

#include "SizeOrigins.h"
#include "ssa-compiler/Support/RegionEdges.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ssa_compiler;

namespace {
/// Answers one question. What it has found on the way is kept: both arms of a
/// branch may ask the branch before, and so on.
class OriginFinder {
public:
  SizeOrigin findNumber(OpFoldResult number);
  SizeOrigin findSize(Value tensor, int64_t dim);

private:
  SizeOrigin findNewSize(Value tensor, int64_t dim);

  DenseMap<std::pair<Value, int64_t>, SizeOrigin> found;
};
} // namespace

SizeOrigin OriginFinder::findNumber(OpFoldResult number) {
  if (std::optional<int64_t> constant = getConstantIntValue(number))
    return {Builder(number.getContext()).getIndexAttr(*constant), Value(), 0};
  auto value = cast<Value>(number);
  if (auto size = value.getDefiningOp<tensor::DimOp>())
    if (std::optional<int64_t> dim = size.getConstantIndex())
      return findSize(size.getSource(), *dim);
  // There and back: index, int64, index.
  if (auto outer = value.getDefiningOp<arith::IndexCastOp>())
    if (auto inner = outer.getIn().getDefiningOp<arith::IndexCastOp>())
      if (inner.getIn().getType().isIndex() &&
          outer.getIn().getType().isInteger(64))
        return findNumber(inner.getIn());
  return {value, Value(), 0};
}

/// The dimension that a merged one is, if the others have one element.
static std::optional<int64_t> findOnlyDim(tensor::CollapseShapeOp op,
                                          int64_t dim) {
  std::optional<int64_t> only;
  ReassociationIndices group = op.getReassociationIndices()[dim];
  for (int64_t merged : group) {
    if (op.getSrcType().getDimSize(merged) == 1)
      continue;
    if (only)
      return std::nullopt;
    only = merged;
  }
  return only;
}

/// The tensor in front of an op that has the sizes of its result.
static Value findTensorOfSameSizes(OpResult result) {
  Operation *op = result.getOwner();
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return cast.getSource();
  if (auto copy = dyn_cast<bufferization::MaterializeInDestinationOp>(op))
    return copy.getDest();
  if (auto made = dyn_cast<bufferization::AllocTensorOp>(op))
    return made.getCopy();
  if (auto writes = dyn_cast<DestinationStyleOpInterface>(op))
    return writes.getTiedOpOperand(result)->get();
  return Value();
}

SizeOrigin OriginFinder::findSize(Value tensor, int64_t dim) {
  auto known = found.find({tensor, dim});
  if (known != found.end())
    return known->second;
  SizeOrigin origin = findNewSize(tensor, dim);
  found[{tensor, dim}] = origin;
  return origin;
}

SizeOrigin OriginFinder::findNewSize(Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return findNumber(
        Builder(type.getContext()).getIndexAttr(type.getDimSize(dim)));
  SizeOrigin unknown{{}, tensor, dim};
  // What enters a loop has the size that it keeps in each trip.
  ForwardedValues forwarded = findForwardedValues(tensor);
  if (!forwarded.entering.empty())
    return findSize(forwarded.entering.front(), dim);
  if (!forwarded.inside.empty()) {
    SizeOrigin first = findSize(forwarded.inside.front(), dim);
    bool agree =
        llvm::all_of(llvm::drop_begin(forwarded.inside), [&](Value value) {
          return findSize(value, dim) == first;
        });
    return agree ? first : unknown;
  }
  if (isa<BlockArgument>(tensor))
    return unknown;
  auto result = cast<OpResult>(tensor);
  if (Value same = findTensorOfSameSizes(result))
    return findSize(same, dim);
  Operation *op = result.getOwner();
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    if (slice.getDroppedDims().none())
      return findNumber(slice.getMixedSizes()[dim]);
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (auto [number, size] : llvm::enumerate(slice.getMixedSizes()))
      if (!dropped.test(number) && dim-- == 0)
        return findNumber(size);
    return unknown;
  }
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return findNumber(empty.getMixedSizes()[dim]);
  if (auto made = dyn_cast<bufferization::AllocTensorOp>(op))
    return findNumber(made->getOperand(made.getIndexOfDynamicSize(dim)));
  if (auto expanded = dyn_cast<tensor::ExpandShapeOp>(op))
    return findNumber(expanded.getMixedOutputShape()[dim]);
  if (auto merged = dyn_cast<tensor::CollapseShapeOp>(op))
    if (std::optional<int64_t> only = findOnlyDim(merged, dim))
      return findSize(merged.getSrc(), *only);
  return unknown;
}

SizeOrigin ssa_compiler::findNumberOrigin(OpFoldResult number) {
  return OriginFinder().findNumber(number);
}

SizeOrigin ssa_compiler::findSizeOrigin(Value tensor, int64_t dim) {
  return OriginFinder().findSize(tensor, dim);
}
