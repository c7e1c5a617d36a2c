//===- ComputeInDestination.cpp - results where they are inserted ---------===//

#include "SizeOrigins.h"
#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_COMPUTEINDESTINATIONPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

/// Whether an operand is a slice that bufferization copies.
static bool isCopiedSlice(Value operand,
                          const bufferization::OneShotAnalysisState &state) {
  auto slice = operand.getDefiningOp<tensor::ExtractSliceOp>();
  return slice && !state.isInPlace(slice.getSourceMutable());
}

/// Builds the slice that an op inserts into, in the place of an empty tensor,
/// if it has the sizes of that. In a branch the program may assert that it has,
/// which says nothing of the other branch.
static Value buildSlice(RewriterBase &rewriter, SubsetInsertionOpInterface op,
                        tensor::EmptyOp empty, Operation *user) {
  Value slice = bufferization::buildSubsetExtraction(rewriter, op, empty, user);
  if (!slice || op->getBlock() == empty->getBlock())
    return slice;
  auto type = cast<RankedTensorType>(slice.getType());
  bool isSame = type.getRank() == empty.getType().getRank();
  for (int64_t dim = 0; isSame && dim < type.getRank(); ++dim)
    isSame = findSizeOrigin(slice, dim) == findSizeOrigin(empty, dim);
  if (isSame)
    return slice;
  if (slice.use_empty() && slice.getDefiningOp<tensor::ExtractSliceOp>())
    rewriter.eraseOp(slice.getDefiningOp());
  return Value();
}

namespace {
struct ComputeInDestinationPass
    : public ssa_compiler::impl::ComputeInDestinationPassBase<
          ComputeInDestinationPass> {
  using ComputeInDestinationPassBase::ComputeInDestinationPassBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    bufferization::OneShotBufferizationOptions options =
        getKernelBufferization();
    bufferization::OneShotAnalysisState before(getOperation(), options);
    if (failed(bufferization::analyzeModuleOp(getOperation(), before)) ||
        failed(bufferization::eliminateEmptyTensors(rewriter, getOperation(),
                                                    before, buildSlice)))
      return signalPassFailure();
    bufferization::OneShotAnalysisState state(getOperation(), options);
    if (failed(bufferization::analyzeModuleOp(getOperation(), state)))
      return signalPassFailure();
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (!llvm::any_of(op->getOperands(), [&](Value operand) {
            return isCopiedSlice(operand, state);
          }))
        return;
      for (OpOperand &output : op.getDpsInitsMutable())
        useOwnTensor(op, output);
    });
  }

private:
  /// Lets an op that overwrites a slice compute into a new tensor.
  static void useOwnTensor(linalg::LinalgOp op, OpOperand &output) {
    auto slice = output.get().getDefiningOp<tensor::ExtractSliceOp>();
    if (!slice || op.payloadUsesValueFromOperand(&output))
      return;
    OpBuilder builder(op);
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(builder, op.getLoc(), slice);
    output.set(tensor::EmptyOp::create(builder, op.getLoc(), sizes,
                                       slice.getType().getElementType()));
  }
};
} // namespace
