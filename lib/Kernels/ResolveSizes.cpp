//===- ResolveSizes.cpp - sizes of views, from what they view -------------===//

#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_RESOLVESIZESPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

namespace {
/// A size of merged dimensions as the product of theirs.
struct SizeOfMerged : OpRewritePattern<memref::DimOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::DimOp op,
                                PatternRewriter &rewriter) const override {
    auto merged = op.getSource().getDefiningOp<memref::CollapseShapeOp>();
    std::optional<int64_t> dim = op.getConstantIndex();
    if (!merged || !dim)
      return failure();
    Location loc = op.getLoc();
    Value product = arith::ConstantIndexOp::create(rewriter, loc, 1);
    ReassociationIndices group = merged.getReassociationIndices()[*dim];
    for (int64_t part : group) {
      Value size = memref::DimOp::create(rewriter, loc, merged.getSrc(), part);
      product = arith::MulIOp::create(rewriter, loc, product, size);
    }
    rewriter.replaceOp(op, product);
    return success();
  }
};

/// A size that a view states itself.
template <typename ViewOp>
struct SizeOfReshaped : OpRewritePattern<memref::DimOp> {
  using OpRewritePattern<memref::DimOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::DimOp op,
                                PatternRewriter &rewriter) const override {
    auto view = op.getSource().getDefiningOp<ViewOp>();
    std::optional<int64_t> dim = op.getConstantIndex();
    if (!view || !dim)
      return failure();
    rewriter.replaceOp(op, getValueOrCreateConstantIndexOp(
                               rewriter, op.getLoc(), getSizes(view)[*dim]));
    return success();
  }

  static SmallVector<OpFoldResult> getSizes(memref::ReinterpretCastOp view) {
    return view.getConstifiedMixedSizes();
  }
  static SmallVector<OpFoldResult> getSizes(memref::ExpandShapeOp view) {
    return view.getMixedOutputShape();
  }
};

/// Which results of branches are sizes of others.
struct BranchSizes : RewriterBase::Listener {
  void notifyOperationErased(Operation *op) override { sizes.erase(op); }

  /// By branch, by the number of a result and of its dimension: the number of
  /// the result that is its size.
  DenseMap<Operation *, DenseMap<std::pair<unsigned, int64_t>, unsigned>> sizes;
};

/// A size of what a branch ends in as a further result of the branch, one
/// however often it is asked for: of a chain of branches each would ask the one
/// before twice.
struct SizeOfBranch : OpRewritePattern<memref::DimOp> {
  SizeOfBranch(MLIRContext *context, BranchSizes &known)
      : OpRewritePattern(context), known(known) {}

  LogicalResult matchAndRewrite(memref::DimOp op,
                                PatternRewriter &rewriter) const override {
    auto branch = op.getSource().getDefiningOp<scf::IfOp>();
    std::optional<int64_t> dim = op.getConstantIndex();
    if (!branch || !dim)
      return failure();
    unsigned number = cast<OpResult>(op.getSource()).getResultNumber();
    auto [size, isNew] =
        known.sizes[branch].try_emplace({number, *dim}, branch.getNumResults());
    if (!isNew) {
      rewriter.replaceOp(op, branch.getResult(size->second));
      return success();
    }
    for (Block *arm : {branch.thenBlock(), branch.elseBlock()}) {
      Operation *yield = arm->getTerminator();
      rewriter.setInsertionPoint(yield);
      Value size = memref::DimOp::create(rewriter, op.getLoc(),
                                         yield->getOperand(number), *dim);
      rewriter.modifyOpInPlace(
          yield, [&] { yield->insertOperands(yield->getNumOperands(), size); });
    }
    rewriter.setInsertionPoint(branch);
    SmallVector<Type> types(branch.getResultTypes());
    types.push_back(rewriter.getIndexType());
    auto wider = scf::IfOp::create(rewriter, branch.getLoc(), types,
                                   branch.getCondition(),
                                   /*addThenBlock=*/false,
                                   /*addElseBlock=*/false);
    rewriter.inlineRegionBefore(branch.getThenRegion(), wider.getThenRegion(),
                                wider.getThenRegion().end());
    rewriter.inlineRegionBefore(branch.getElseRegion(), wider.getElseRegion(),
                                wider.getElseRegion().end());
    auto moved = std::move(known.sizes[branch]);
    known.sizes[wider] = std::move(moved);
    rewriter.replaceOp(op, wider.getResults().back());
    rewriter.replaceOp(branch, wider.getResults().drop_back());
    return success();
  }

  BranchSizes &known;
};

/// A size of one of two buffers as one of two sizes.
struct SizeOfSelect : OpRewritePattern<memref::DimOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::DimOp op,
                                PatternRewriter &rewriter) const override {
    auto select = op.getSource().getDefiningOp<arith::SelectOp>();
    std::optional<int64_t> dim = op.getConstantIndex();
    if (!select || !dim)
      return failure();
    auto size = [&](Value buffer) -> Value {
      return memref::DimOp::create(rewriter, op.getLoc(), buffer, *dim);
    };
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, select.getCondition(),
                                                 size(select.getTrueValue()),
                                                 size(select.getFalseValue()));
    return success();
  }
};

/// Sizes asked for together, as they are where loads see through views.
struct SizesOfMetadata : OpRewritePattern<memref::ExtractStridedMetadataOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::ExtractStridedMetadataOp op,
                                PatternRewriter &rewriter) const override {
    if (llvm::all_of(op.getSizes(),
                     [](Value size) { return size.use_empty(); }))
      return failure();
    for (auto [dim, size] : llvm::enumerate(op.getSizes()))
      rewriter.replaceAllUsesWith(
          size, memref::DimOp::create(rewriter, op.getLoc(), op.getSource(),
                                      static_cast<int64_t>(dim)));
    return success();
  }
};

struct ResolveSizesPass
    : public ssa_compiler::impl::ResolveSizesPassBase<ResolveSizesPass> {
  using ResolveSizesPassBase::ResolveSizesPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    BranchSizes known;
    patterns.add<SizeOfMerged, SizeOfReshaped<memref::ExpandShapeOp>,
                 SizeOfReshaped<memref::ReinterpretCastOp>, SizeOfSelect,
                 SizesOfMetadata>(&getContext());
    patterns.add<SizeOfBranch>(&getContext(), known);
    memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
    memref::populateResolveShapedTypeResultDimsPatterns(patterns);
    GreedyRewriteConfig config;
    config.setListener(&known);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
