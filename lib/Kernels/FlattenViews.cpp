//===- FlattenViews.cpp - merged dimensions without divisions -------------===//

#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_FLATTENVIEWSPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;

/// Views a contiguous buffer under its other shape.
static void flatten(memref::CollapseShapeOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  MemRefType type = op.getResultType();
  SmallVector<OpFoldResult> sizes, strides(type.getRank());
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
    if (!type.isDynamicDim(dim)) {
      sizes.push_back(builder.getIndexAttr(type.getDimSize(dim)));
      continue;
    }
    Value size = arith::ConstantIndexOp::create(builder, loc, 1);
    for (int64_t part : group)
      size = arith::MulIOp::create(
          builder, loc, size,
          memref::DimOp::create(builder, loc, op.getSrc(), part));
    sizes.push_back(size);
  }
  OpFoldResult stride = builder.getIndexAttr(1);
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    strides[dim] = stride;
    auto known = dyn_cast<Attribute>(stride);
    auto size = dyn_cast<Attribute>(sizes[dim]);
    if (known && size) {
      stride = builder.getIndexAttr(cast<IntegerAttr>(known).getInt() *
                                    cast<IntegerAttr>(size).getInt());
      continue;
    }
    stride =
        arith::MulIOp::create(
            builder, loc, getValueOrCreateConstantIndexOp(builder, loc, stride),
            getValueOrCreateConstantIndexOp(builder, loc, sizes[dim]))
            .getResult();
  }
  auto flat = memref::ReinterpretCastOp::create(
      builder, loc, type, op.getSrc(), builder.getIndexAttr(0), sizes, strides);
  op.replaceAllUsesWith(flat.getResult());
  op.erase();
}

/// Whether a branch or loop decides which buffer a value is.
static bool isChosen(Value buffer) {
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    return !isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return isa<RegionBranchOpInterface>(buffer.getDefiningOp());
}

namespace {
struct FlattenViewsPass
    : public ssa_compiler::impl::FlattenViewsPassBase<FlattenViewsPass> {
  using FlattenViewsPassBase::FlattenViewsPassBase;

  void runOnOperation() override {
    getOperation()->walk([](memref::CollapseShapeOp op) {
      if (op.getSrcType().getLayout().isIdentity() &&
          op.getResultType().getLayout().isIdentity() &&
          op.getResultType().getRank() != 0)
        flatten(op);
    });
    SmallVector<Operation *> views;
    getOperation()->walk([&](Operation *op) {
      if (isa<memref::CollapseShapeOp, memref::ExpandShapeOp>(op) &&
          isChosen(op->getOperand(0)))
        views.push_back(op);
    });
    RewritePatternSet patterns(&getContext());
    memref::populateExpandStridedMetadataPatterns(patterns);
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingOps);
    if (failed(applyOpPatternsGreedily(views, std::move(patterns), config)))
      return signalPassFailure();
    // A cast begins where the memory does, whatever shape it had in between.
    getOperation()->walk([](memref::ReinterpretCastOp op) {
      Operation *source = op.getSource().getDefiningOp();
      while (isa_and_nonnull<memref::CollapseShapeOp, memref::ExpandShapeOp,
                             memref::CastOp>(source)) {
        op.getSourceMutable().assign(source->getOperand(0));
        source = op.getSource().getDefiningOp();
      }
    });
  }
};
} // namespace
