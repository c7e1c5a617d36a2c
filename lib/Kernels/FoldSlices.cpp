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

/// Whether nothing but the order of sizes says which dimensions a slice drops:
/// there are dimensions of one element that it drops and that it keeps. MLIR
/// takes other ones for the dropped ones once it is a view of a buffer.
template <typename SliceOp>
static bool isAmbiguous(SliceOp op, RankedTensorType reduced) {
  if (reduced.hasStaticShape())
    return false;
  int64_t dropped = op.getMixedSizes().size() - reduced.getRank();
  int64_t ones = llvm::count_if(op.getMixedSizes(), isOneInteger);
  return dropped > 0 && ones > dropped;
}

namespace {
/// A slice that drops all of its dimensions of one element, and how the ones
/// that are kept are added to it again.
struct Squeezed {
  RankedTensorType type;
  SmallVector<ReassociationIndices> groups;
  SmallVector<OpFoldResult> sizes;
};
} // namespace

template <typename SliceOp>
static Squeezed squeeze(SliceOp op, RankedTensorType reduced) {
  Squeezed squeezed;
  SmallVector<int64_t> shape;
  ReassociationIndices leading;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  for (auto [dim, size] : llvm::enumerate(op.getMixedSizes())) {
    if (dropped.test(dim))
      continue;
    int64_t kept = squeezed.sizes.size();
    squeezed.sizes.push_back(size);
    if (!isOneInteger(size)) {
      shape.push_back(reduced.getDimSize(kept));
      squeezed.groups.push_back(leading);
      leading.clear();
      squeezed.groups.back().push_back(kept);
    } else if (squeezed.groups.empty()) {
      leading.push_back(kept);
    } else {
      squeezed.groups.back().push_back(kept);
    }
  }
  squeezed.type = RankedTensorType::get(shape, reduced.getElementType());
  return squeezed;
}

/// Adds the dimensions that are kept by an op of its own.
static void separate(tensor::ExtractSliceOp op) {
  OpBuilder builder(op);
  Squeezed squeezed = squeeze(op, op.getType());
  auto slice = tensor::ExtractSliceOp::create(
      builder, op.getLoc(), squeezed.type, op.getSource(), op.getMixedOffsets(),
      op.getMixedSizes(), op.getMixedStrides());
  auto expanded =
      tensor::ExpandShapeOp::create(builder, op.getLoc(), op.getType(), slice,
                                    squeezed.groups, squeezed.sizes);
  op.replaceAllUsesWith(expanded.getResult());
  op.erase();
}

/// Drops the dimensions that an inserted slice has by an op of its own.
static void separate(tensor::InsertSliceOp op) {
  OpBuilder builder(op);
  Squeezed squeezed = squeeze(op, op.getSourceType());
  auto collapsed = tensor::CollapseShapeOp::create(
      builder, op.getLoc(), squeezed.type, op.getSource(), squeezed.groups);
  auto inserted = tensor::InsertSliceOp::create(
      builder, op.getLoc(), collapsed, op.getDest(), op.getMixedOffsets(),
      op.getMixedSizes(), op.getMixedStrides());
  op.replaceAllUsesWith(inserted.getResult());
  op.erase();
}

namespace {
struct FoldSlicesPass
    : public ssa_compiler::impl::FoldSlicesPassBase<FoldSlicesPass> {
  using FoldSlicesPassBase::FoldSlicesPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    tensor::populateReassociativeReshapeFoldingPatterns(patterns);
    tensor::populateMergeConsecutiveInsertExtractSlicePatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    getOperation()->walk([](Operation *op) {
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
        if (isAmbiguous(slice, slice.getType()))
          separate(slice);
      } else if (auto slice = dyn_cast<tensor::InsertSliceOp>(op)) {
        if (isAmbiguous(slice, slice.getSourceType()))
          separate(slice);
      }
    });
  }
};
} // namespace
