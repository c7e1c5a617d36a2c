//===- FuseElementwise.cpp - fusion that repeats no work ------------------===//

#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_FUSEELEMENTWISEPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;

/// Whether an op computes more than a conversion for each element.
static bool computes(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic &&
         llvm::any_of(generic.getBody()->without_terminator(),
                      [](Operation &op) { return !isa<CastOpInterface>(op); });
}

/// Whether an op asks for each element of an operand several times, and not one
/// right after the other: LLVM moves what is the same in all trips out of the
/// innermost loops.
static bool asksAgain(OpOperand *operand) {
  auto op = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!op)
    return false;
  AffineMap map = op.getMatchingIndexingMap(operand);
  bool unused = false;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    bool uses = map.isFunctionOfDim(loop);
    if (uses && unused && op.getStaticLoopRanges()[loop] != 1)
      return true;
    unused |= !uses && op.getStaticLoopRanges()[loop] != 1;
  }
  return false;
}

/// Ops in the body of one that is computed once for each operand that is a
/// result of it, and in the body of what uses it. Fusion does not notice that
/// they are the same: a chain of such ops would double with each.
static constexpr unsigned kMostRepeated = 24, kMostInUser = 256;

/// Whether fusion of an op with what uses an operand leaves no other user.
static bool hasNoOtherUser(Operation *producer) {
  if (producer->hasOneUse())
    return true;
  auto count = [](Operation *op) -> size_t {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    return generic ? generic.getBody()->getOperations().size() : ~size_t(0);
  };
  return llvm::all_equal(producer->getUsers()) &&
         count(producer) <= kMostRepeated &&
         count(*producer->user_begin()) <= kMostInUser;
}

namespace {
struct FuseElementwisePass
    : public ssa_compiler::impl::FuseElementwisePassBase<FuseElementwisePass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    linalg::ControlFusionFn control = [](OpOperand *fused) {
      Operation *producer = fused->get().getDefiningOp();
      return producer && hasNoOtherUser(producer) &&
             !(computes(producer) && asksAgain(fused));
    };
    // An operand that is there twice is two uses of what makes it. Patterns are
    // tried in the order in which they are added.
    RewritePatternSet once(context);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(once);
    (void)applyPatternsGreedily(getOperation(), std::move(once));
    // As --linalg-fuse-elementwise-ops.
    RewritePatternSet patterns(context);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    linalg::populateElementwiseOpsFusionPatterns(patterns, control);
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, control);
    affine::AffineApplyOp::getCanonicalizationPatterns(patterns, context);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
    context->getLoadedDialect<linalg::LinalgDialect>()
        ->getCanonicalizationPatterns(patterns);
    linalg::populateConstantFoldLinalgOperations(patterns, control);
    (void)applyPatternsGreedily(getOperation(), std::move(patterns),
                                GreedyRewriteConfig().setUseTopDownTraversal());
  }
};
} // namespace
