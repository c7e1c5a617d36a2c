//===- CollapseLoops.cpp - one loop over contiguous dimensions ------------===//

#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_COLLAPSELOOPSPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;

/// A buffer without dimensions of one element.
static FailureOr<Value> dropUnits(RewriterBase &rewriter, Location loc,
                                  Value buffer, ArrayRef<int64_t> shape,
                                  ArrayRef<ReassociationIndices> groups) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type || !type.hasRank())
    return failure();
  if (type.getLayout().isIdentity())
    return memref::CollapseShapeOp::create(rewriter, loc, buffer, groups)
        .getResult();
  Attribute zero = rewriter.getIndexAttr(0), one = rewriter.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets(type.getRank(), zero);
  SmallVector<OpFoldResult> strides(type.getRank(), one);
  SmallVector<OpFoldResult> sizes =
      memref::getMixedSizes(rewriter, loc, buffer);
  auto reduced = memref::SubViewOp::inferRankReducedResultType(
      shape, type, offsets, sizes, strides);
  return memref::SubViewOp::create(rewriter, loc, cast<MemRefType>(reduced),
                                   buffer, offsets, sizes, strides)
      .getResult();
}

/// Drops the loops of one trip of an op. Returns the op.
static linalg::GenericOp dropUnits(linalg::GenericOp op,
                                   RewriterBase &rewriter) {
  linalg::ControlDropUnitDims control;
  control.collapseFn = [](RewriterBase &rewriter, Location loc, Value buffer,
                          ArrayRef<int64_t> shape,
                          ArrayRef<ReassociationIndices> groups,
                          const linalg::ControlDropUnitDims &) {
    return dropUnits(rewriter, loc, buffer, shape, groups);
  };
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::DropUnitDimsResult> dropped =
      linalg::dropUnitDims(rewriter, op, control);
  if (failed(dropped))
    return op;
  rewriter.replaceOp(op, dropped->replacements);
  return cast<linalg::GenericOp>(dropped->resultOp.getOperation());
}

/// Whether every operand that a dimension and the next one walk over is
/// contiguous, and has the two side by side.
static bool isContiguous(linalg::GenericOp op, unsigned dim) {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  ReassociationIndices pair = {dim, dim + 1};
  if (kinds[dim] != kinds[dim + 1] ||
      !linalg::areDimSequencesPreserved(op.getIndexingMapsArray(), {pair}))
    return false;
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    // A cast may say more of strides than is known.
    if (auto shown = operand.get().getDefiningOp<memref::CastOp>())
      type = dyn_cast<MemRefType>(shown.getSource().getType());
    return !op.getMatchingIndexingMap(&operand).isFunctionOfDim(dim) ||
           (type && type.getLayout().isIdentity());
  });
}

/// The dimensions that can be walked over by one loop each.
static SmallVector<ReassociationIndices> findGroups(linalg::GenericOp op) {
  SmallVector<ReassociationIndices> groups;
  for (unsigned dim = 0; dim + 1 < op.getNumLoops(); ++dim) {
    if (!isContiguous(op, dim))
      continue;
    if (groups.empty() || groups.back().back() != dim)
      groups.push_back({dim});
    groups.back().push_back(dim + 1);
  }
  return groups;
}

namespace {
struct CollapseLoopsPass
    : public ssa_compiler::impl::CollapseLoopsPassBase<CollapseLoopsPass> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation()->walk([&](linalg::GenericOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops) {
      if (!op.hasPureBufferSemantics())
        continue;
      op = dropUnits(op, rewriter);
      // Indices would be divided out of the one loop's.
      if (op.hasIndexSemantics() ||
          !llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
            return map.isProjectedPermutation();
          }))
        continue;
      SmallVector<ReassociationIndices> groups = findGroups(op);
      if (groups.empty())
        continue;
      rewriter.setInsertionPoint(op);
      if (succeeded(linalg::collapseOpIterationDims(op, groups, rewriter)))
        rewriter.eraseOp(op);
    }
  }
};
} // namespace
