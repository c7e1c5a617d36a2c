//===- FoldSlices.cpp - slices of slices as one ---------------------------===//

#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_FOLDSLICESPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

namespace {
struct FoldSlicesPass
    : public ssa_compiler::impl::FoldSlicesPassBase<FoldSlicesPass> {
  using FoldSlicesPassBase::FoldSlicesPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    tensor::populateReassociativeReshapeFoldingPatterns(patterns);
    tensor::populateMergeConsecutiveInsertExtractSlicePatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
