//===- TorchSimplify.cpp - remove torch ops that do nothing ---------------===//
//
// Patterns on immutable tensors, by the torch name of the op, together with the
// folders and canonicalizations of all loaded dialects.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"
#include "ssa-compiler/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_TORCHSIMPLIFYPASS
#include "ssa-compiler/Transforms/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;
using namespace ssa_compiler::torch;

namespace {

/// Replaces an op by one of its operands if that has the type of the result and
/// every size is known (so that no broadcast hides in an equal `?`).
struct ForwardOperand final : RewritePattern {
  ForwardOperand(MLIRContext *context, StringRef name, unsigned index)
      : RewritePattern(name, /*benefit=*/1, context), index(index) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<ValueTensorType>(op->getResult(0).getType());
    Value operand = op->getOperand(index);
    if (!type || operand.getType() != type)
      return rewriter.notifyMatchFailure(op, "types differ");
    if (index != 0 && !type.areAllSizesKnown())
      return rewriter.notifyMatchFailure(op, "sizes are not known");
    rewriter.replaceOp(op, operand);
    return success();
  }

  unsigned index;
};

struct TorchSimplify final
    : ssa_compiler::impl::TorchSimplifyPassBase<TorchSimplify> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    for (StringRef name : {"torch.aten.clone", "torch.tensor_static_info_cast"})
      set.add<ForwardOperand>(context, name, /*index=*/0);
    // copy(self, src): src.
    set.add<ForwardOperand>(context, "torch.aten.copy", /*index=*/1);
    for (Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(set);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      op.getCanonicalizationPatterns(set, context);
    patterns = FrozenRewritePatternSet(std::move(set));
    return success();
  }

  void runOnOperation() override {
    // A value that nothing reads leaves one of the branches around it in each
    // iteration. What is left after the last one is still the same program.
    GreedyRewriteConfig config;
    config.setMaxIterations(1000);
    (void)applyPatternsGreedily(getOperation(), patterns, config);
  }

  FrozenRewritePatternSet patterns;
};

} // namespace
