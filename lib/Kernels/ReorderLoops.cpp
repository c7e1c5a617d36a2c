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

/// The largest operand, if it has too many elements for the first cache.
static OpOperand *findLargest(linalg::GenericOp op) {
  constexpr int64_t kCached = 1 << 13;
  OpOperand *largest = nullptr;
  int64_t most = kCached;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto type = dyn_cast<ShapedType>(operand->get().getType());
    if (type && type.hasStaticShape() && type.getNumElements() > most) {
      largest = operand;
      most = type.getNumElements();
    }
  }
  return largest;
}

/// The loops from the outermost one on. Those that the largest operand does not
/// know come just before the innermost one: a row of a matrix is multiplied by
/// all the rows of another while it is in the cache.
static SmallVector<unsigned> chooseOrder(linalg::GenericOp op) {
  unsigned innermost = chooseInnermost(op);
  OpOperand *largest =
      op.getNumReductionLoops() != 0 ? findLargest(op) : nullptr;
  SmallVector<unsigned> order, reused;
  for (unsigned dim = 0; dim < op.getNumLoops(); ++dim) {
    if (dim == innermost)
      continue;
    bool known =
        !largest || op.getMatchingIndexingMap(largest).isFunctionOfDim(dim);
    (known ? order : reused).push_back(dim);
  }
  order.append(reused);
  order.push_back(innermost);
  return order;
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
      SmallVector<unsigned> order = chooseOrder(op);
      if (llvm::equal(order, llvm::seq<unsigned>(0, loops)))
        continue;
      rewriter.setInsertionPoint(op);
      if (failed(linalg::interchangeGenericOp(rewriter, op, order)))
        return signalPassFailure();
    }
  }
};
} // namespace
