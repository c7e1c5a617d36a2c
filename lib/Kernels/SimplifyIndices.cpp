//===- SimplifyIndices.cpp - indices as plain sums ------------------------===//
//
// The importer clamps indices as Python does and computes in 64 bits. Where
// that changes nothing, what is left are sums of loop variables and constants,
// from which bufferization sees that two slices do not overlap.
//
//===----------------------------------------------------------------------===//

#include "Ranges.h"
#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_SIMPLIFYINDICESPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

/// The operand that a maximum, a minimum or a remainder is in any case, given
/// the ranges of both; none if that is not known.
static Value findChosen(Operation *op, const DataFlowSolver &ranges) {
  bool isMax = isa<arith::MaxSIOp>(op), isRest = isa<arith::RemSIOp>(op);
  if (!isMax && !isRest && !isa<arith::MinSIOp>(op))
    return Value();
  std::optional<ConstantIntRanges> known[2];
  for (unsigned k : {0, 1}) {
    const auto *lattice =
        ranges.lookupState<dataflow::IntegerValueRangeLattice>(
            op->getOperand(k));
    if (!lattice || lattice->getValue().isUninitialized())
      return Value();
    known[k] = lattice->getValue().getValue();
  }
  if (isRest)
    return known[0]->smin().isNonNegative() &&
                   known[0]->smax().slt(known[1]->smin())
               ? op->getOperand(0)
               : Value();
  for (unsigned k : {0, 1}) {
    const ConstantIntRanges &one = *known[k], &other = *known[1 - k];
    if (isMax ? one.smin().sge(other.smax()) : one.smax().sle(other.smin()))
      return op->getOperand(k);
  }
  return Value();
}

/// Computes in `index` what is computed in 64 bits and used as an index. Both
/// wrap around alike.
template <typename OpTy>
struct SinkCast : OpRewritePattern<arith::IndexCastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::IndexCastOp op,
                                PatternRewriter &rewriter) const override {
    auto sum = op.getIn().getDefiningOp<OpTy>();
    if (!sum || !op.getType().isIndex() || !op.getIn().getType().isInteger(64))
      return failure();
    SmallVector<Value> operands;
    for (Value operand : sum->getOperands())
      operands.push_back(arith::IndexCastOp::create(rewriter, op.getLoc(),
                                                    op.getType(), operand));
    rewriter.replaceOpWithNewOp<OpTy>(op, operands[0], operands[1]);
    return success();
  }
};

namespace {
struct SimplifyIndicesPass
    : public ssa_compiler::impl::SimplifyIndicesPassBase<SimplifyIndicesPass> {
  using SimplifyIndicesPassBase::SimplifyIndicesPassBase;

  void runOnOperation() override {
    DataFlowSolver ranges;
    if (failed(analyzeRanges(ranges, getOperation())))
      return signalPassFailure();
    getOperation()->walk([&](Operation *op) {
      if (Value chosen = findChosen(op, ranges)) {
        op->getResult(0).replaceAllUsesWith(chosen);
        op->erase();
      }
    });
    RewritePatternSet patterns(&getContext());
    patterns.add<SinkCast<arith::AddIOp>, SinkCast<arith::SubIOp>,
                 SinkCast<arith::MulIOp>>(&getContext());
    arith::IndexCastOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
