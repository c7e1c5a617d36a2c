//===- ReorderLoops.cpp - innermost loops that walk along memory ----------===//

#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_REORDERLOOPSPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;

/// How many operands a loop over a dimension reads or writes along memory, or
/// at one place. Results count twice: stores that are scattered cost more than
/// loads.
static unsigned countGood(linalg::GenericOp op, unsigned dim) {
  unsigned good = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    // What follows the dimension and has one index does not keep it apart.
    while (map.getNumResults() > 1 &&
           isa<AffineConstantExpr>(map.getResults().back()))
      map = map.dropResult(map.getNumResults() - 1);
    unsigned rank = map.getNumResults();
    bool last = rank != 0 && map.getResult(rank - 1).isFunctionOfDim(dim);
    bool before = llvm::any_of(
        map.getResults().drop_back(rank != 0),
        [&](AffineExpr expr) { return expr.isFunctionOfDim(dim); });
    if (!before && (!last || isa<AffineDimExpr>(map.getResult(rank - 1))))
      good += op.isDpsInit(&operand) ? 2 : 1;
  }
  return good;
}

/// The dimension of the innermost loop.
static unsigned chooseInnermost(linalg::GenericOp op) {
  unsigned best = op.getNumLoops() - 1, most = countGood(op, best);
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  for (unsigned dim = op.getNumLoops() - 1; dim-- > 0;) {
    unsigned good = countGood(op, dim);
    bool vectorizes = kinds[dim] == utils::IteratorType::parallel &&
                      kinds[best] == utils::IteratorType::reduction;
    if (good > most || (good == most && vectorizes)) {
      best = dim;
      most = good;
    }
  }
  return best;
}

namespace {
struct ReorderLoopsPass
    : public ssa_compiler::impl::ReorderLoopsPassBase<ReorderLoopsPass> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation()->walk([&](linalg::GenericOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops) {
      unsigned loops = op.getNumLoops();
      if (loops < 2 || op.hasIndexSemantics())
        continue;
      unsigned innermost = chooseInnermost(op);
      if (innermost == loops - 1)
        continue;
      SmallVector<unsigned> order;
      for (unsigned dim = 0; dim < loops; ++dim)
        if (dim != innermost)
          order.push_back(dim);
      order.push_back(innermost);
      rewriter.setInsertionPoint(op);
      if (failed(linalg::interchangeGenericOp(rewriter, op, order)))
        return signalPassFailure();
    }
  }
};
} // namespace
