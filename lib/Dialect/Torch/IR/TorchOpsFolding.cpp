// Folding and canonicalisation of the torch dialect's hand-written ops.

#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace ssa_compiler::torch;

// None has no attribute of its own: its type stands for it.
OpFoldResult ConstantNoneOp::fold(FoldAdaptor) {
  return TypeAttr::get(getType());
}
OpFoldResult ConstantStrOp::fold(FoldAdaptor) { return getValueAttr(); }
OpFoldResult ConstantIntOp::fold(FoldAdaptor) { return getValueAttr(); }
OpFoldResult ConstantFloatOp::fold(FoldAdaptor) { return getValueAttr(); }
OpFoldResult ConstantBoolOp::fold(FoldAdaptor) { return getValueAttr(); }
OpFoldResult ConstantNumberOp::fold(FoldAdaptor) { return getValue(); }
OpFoldResult ValueTensorLiteralOp::fold(FoldAdaptor) { return getValueAttr(); }

OpFoldResult DerefineOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() ? OpFoldResult(getOperand())
                                             : OpFoldResult();
}

/// A cast to the same type is its operand; of two casts in a row that end where
/// they began, nothing is left.
OpFoldResult TensorStaticInfoCastOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  auto first = getOperand().getDefiningOp<TensorStaticInfoCastOp>();
  if (first && first.getOperand().getType() == getType())
    return first.getOperand();
  return {};
}

namespace {
/// An assertion whose condition is constant true.
struct RemoveTrueAssert final : OpRewritePattern<RuntimeAssertOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(RuntimeAssertOp op,
                                PatternRewriter &rewriter) const override {
    auto constant = op.getCondition().getDefiningOp<ConstantBoolOp>();
    if (!constant || !constant.getValue())
      return rewriter.notifyMatchFailure(op,
                                         "the condition is not constant true");
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void RuntimeAssertOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                  MLIRContext *context) {
  patterns.add<RemoveTrueAssert>(context);
}
