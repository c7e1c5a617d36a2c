//===- Pipelines.cpp - from the linalg stage to kernels -------------------===//

#include "Roles.h"
#include "ssa-compiler/Kernels/Passes.h"
#include "ssa-compiler/Support/SourceLocation.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace ssa_compiler;

bufferization::OneShotBufferizationOptions
ssa_compiler::getKernelBufferization() {
  bufferization::OneShotBufferizationOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.setFunctionBoundaryTypeConversion(
      bufferization::LayoutMapOption::IdentityLayoutMap);
  return options;
}

void ssa_compiler::registerKernelDialects(DialectRegistry &registry) {
  registry.insert<affine::AffineDialect, bufferization::BufferizationDialect,
                  linalg::LinalgDialect, LLVM::LLVMDialect,
                  memref::MemRefDialect>();
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  arith::registerValueBoundsOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(
      registry);
  cf::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerSubsetOpInterfaceExternalModels(registry);
  linalg::registerValueBoundsOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerValueBoundsOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerInferTypeOpInterfaceExternalModels(registry);
  tensor::registerSubsetOpInterfaceExternalModels(registry);
  tensor::registerValueBoundsOpInterfaceExternalModels(registry);
}

namespace {
/// Slices of slices, and slices of which dimensions of one element are dropped,
/// as one op each: bufferization copies what it cannot see through.
struct FoldSlicesPass
    : public PassWrapper<FoldSlicesPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FoldSlicesPass)

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    tensor::populateReassociativeReshapeFoldingPatterns(patterns);
    tensor::populateMergeConsecutiveInsertExtractSlicePatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

/// Lets loops use the buffers that they begin with instead of carrying them:
/// what they yield is in the same buffers, or it would not have been
/// bufferised. The code generator does not follow buffers around loops.
struct DropCarriedBuffersPass
    : public PassWrapper<DropCarriedBuffersPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DropCarriedBuffersPass)

  void runOnOperation() override {
    getOperation()->walk<WalkOrder::PreOrder>([](LoopLikeOpInterface loop) {
      auto use = [](Value carried, Value init) {
        if (isa<MemRefType>(carried.getType()) &&
            carried.getType() == init.getType())
          carried.replaceAllUsesWith(init);
      };
      if (auto counted = dyn_cast<scf::ForOp>(*loop)) {
        for (auto [argument, result, init] :
             llvm::zip(counted.getRegionIterArgs(), counted.getResults(),
                       counted.getInits())) {
          use(argument, init);
          use(result, init);
        }
      } else if (auto decided = dyn_cast<scf::WhileOp>(*loop)) {
        for (auto [argument, init] :
             llvm::zip(decided.getBeforeArguments(), decided.getInits()))
          use(argument, init);
        // Buffers come first, in one order (--yield-in-place).
        for (auto [argument, result, init] :
             llvm::zip(decided.getAfterArguments(), decided.getResults(),
                       decided.getInits())) {
          use(argument, init);
          use(result, init);
        }
      }
    });
  }
};

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
    for (int64_t part : merged.getReassociationIndices()[*dim]) {
      Value size = memref::DimOp::create(rewriter, loc, merged.getSrc(), part);
      product = arith::MulIOp::create(rewriter, loc, product, size);
    }
    rewriter.replaceOp(op, product);
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

/// Computes the sizes of buffers from those of the buffers they are views of.
struct ResolveSizesPass
    : public PassWrapper<ResolveSizesPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ResolveSizesPass)

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SizeOfMerged, SizesOfMetadata>(&getContext());
    memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
    memref::populateResolveShapedTypeResultDimsPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

/// Makes arguments of the buffers that a function returns. An allocation that
/// is returned becomes the argument; anything else is copied there. Returned
/// instead are the dynamic sizes of these buffers, behind the numbers that the
/// function returns; their number is its attribute `kernel.sizes`.
struct ResultsToOutputsPass
    : public PassWrapper<ResultsToOutputsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ResultsToOutputsPass)

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    Block &entry = function.getBody().front();
    auto yielded = cast<func::ReturnOp>(entry.getTerminator());
    SmallVector<Value> scalars, sizes;
    SmallVector<Type> results;
    SmallVector<DictionaryAttr> attributes;
    for (unsigned k = 0; k < function.getNumArguments(); ++k)
      attributes.push_back(function.getArgAttrDict(k));
    for (auto [number, value] : llvm::enumerate(yielded.getOperands())) {
      auto type = dyn_cast<MemRefType>(value.getType());
      if (!type) {
        scalars.push_back(value);
        results.push_back(value.getType());
        continue;
      }
      if (auto written = getWrittenArgument(function, number)) {
        if (value == entry.getArgument(*written))
          continue;
        yielded.emitError("unsupported: new contents of an argument that are "
                          "not in its buffer");
        return signalPassFailure();
      }
      if (function.getResultAttr(number, "tssa.alias_of") ||
          function.getResultAttr(number, "tssa.same_as"))
        continue;
      BlockArgument output = entry.addArgument(type, function.getLoc());
      attributes.push_back(DictionaryAttr::get(&getContext()));
      auto made = value.getDefiningOp<memref::AllocOp>();
      if (made && made->getBlock() == &entry) {
        llvm::append_range(sizes, made.getDynamicSizes());
        assertSizes(made, output, made.getDynamicSizes());
        value.replaceAllUsesWith(output); // also where it is returned again
        made.erase();
        continue;
      }
      SmallVector<Value> given = sizesOf(value, yielded);
      llvm::append_range(sizes, given);
      assertSizes(yielded, output, given);
      OpBuilder builder(yielded);
      memref::CopyOp::create(builder, yielded.getLoc(), value, output);
    }
    llvm::append_range(scalars, sizes);
    llvm::append_range(results, ValueRange(sizes).getTypes());
    yielded->setOperands(scalars);
    function->setAttr("kernel.sizes",
                      Builder(&getContext()).getI64IntegerAttr(sizes.size()));
    function.removeResAttrsAttr();
    function.setType(
        FunctionType::get(&getContext(), entry.getArgumentTypes(), results));
    function.setAllArgAttrs(attributes);
  }

private:
  /// The dynamic sizes of a buffer.
  static SmallVector<Value> sizesOf(Value buffer, Operation *before) {
    OpBuilder builder(before);
    auto type = cast<MemRefType>(buffer.getType());
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        sizes.push_back(
            memref::DimOp::create(builder, before->getLoc(), buffer, dim));
    return sizes;
  }

  /// Asserts that a result has the sizes that it is to have: the host gives it
  /// none if it would be too large. What is as long as an input is not.
  static void assertSizes(Operation *before, Value output, ValueRange wanted) {
    OpBuilder builder(before);
    if (wanted.size() == 1)
      if (auto size = wanted.front().getDefiningOp<memref::DimOp>())
        if (isa<BlockArgument>(size.getSource()))
          return;
    for (auto [size, given] : llvm::zip(wanted, sizesOf(output, before))) {
      Value same = arith::CmpIOp::create(builder, before->getLoc(),
                                         arith::CmpIPredicate::eq, size, given);
      cf::AssertOp::create(
          builder, before->getLoc(), same,
          withSourceLine("RuntimeError: not enough memory for a tensor",
                         before->getLoc()));
    }
  }
};

/// Whether a copy is of a whole tensor: of a version that is still needed, or
/// into the place where a loop or branch has it.
static bool isOfWholeTensor(memref::CopyOp op) {
  return !op.getSource().getDefiningOp<ViewLikeOpInterface>() &&
         !op.getTarget().getDefiningOp<ViewLikeOpInterface>();
}

/// Copies as loops, which fuse and vectorise; there is no runtime to call.
/// Counts those of whole tensors and their known bytes, outside and inside of
/// loops, in attributes of the function: `kernel.copies`,
/// `kernel.copied_bytes`, `kernel.loop_copies`, `kernel.loop_copied_bytes`.
struct CopiesToLinalgPass
    : public PassWrapper<CopiesToLinalgPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CopiesToLinalgPass)

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<linalg::LinalgDialect>();
  }

  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp op) { copies.push_back(op); });
    // How many, and how many bytes.
    int64_t outside[2] = {0, 0}, inside[2] = {0, 0};
    for (memref::CopyOp op : copies) {
      OpBuilder builder(op);
      auto type = cast<MemRefType>(op.getSource().getType());
      if (isOfWholeTensor(op)) {
        auto &count =
            op->getParentOfType<LoopLikeOpInterface>() ? inside : outside;
        count[0] += 1;
        if (type.hasStaticShape())
          count[1] += type.getNumElements() *
                      llvm::divideCeil(type.getElementTypeBitWidth(), 8);
      }
      linalg::makeMemRefCopyOp(builder, op.getLoc(), op.getSource(),
                               op.getTarget());
      op.erase();
    }
    Builder builder(&getContext());
    auto note = [&](StringRef name, int64_t number) {
      getOperation()->setAttr(name, builder.getI64IntegerAttr(number));
    };
    note("kernel.copies", outside[0]);
    note("kernel.copied_bytes", outside[1]);
    note("kernel.loop_copies", inside[0]);
    note("kernel.loop_copied_bytes", inside[1]);
  }
};
} // namespace

namespace {
struct LowerKernelsOptions : PassPipelineOptions<LowerKernelsOptions> {
  Option<bool> hostBuffers{
      *this, "host-buffers",
      llvm::cl::desc("The caller keeps the status buffer and the workspace: "
                     "the kernel looks whether it is to stop, and whether the "
                     "workspace is large enough"),
      llvm::cl::init(false)};
};
} // namespace

static void buildLowerKernels(OpPassManager &pm,
                              const LowerKernelsOptions &given) {
  auto clean = [&] {
    pm.addPass(createCanonicalizerPass());
    pm.addPass(createCSEPass());
  };
  // Tensors.
  pm.addPass(createLowerAffinePass()); // sizes of merged dimensions
  pm.addNestedPass<func::FuncOp>(createLinalgGeneralizeNamedOpsPass());
  clean();
  pm.addPass(memref::createResolveShapedTypeResultDimsPass());
  pm.addNestedPass<func::FuncOp>(createUseAssertedEqualitiesPass());
  clean();
  pm.addNestedPass<func::FuncOp>(std::make_unique<FoldSlicesPass>());
  pm.addNestedPass<func::FuncOp>(createLinalgInlineScalarOperandsPass());
  pm.addPass(createLinalgElementwiseOpFusionPass());
  clean();
  pm.addNestedPass<func::FuncOp>(createReorderLoopsPass());
  pm.addPass(createYieldInPlacePass());
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  // Buffers.
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  pm.addNestedPass<func::FuncOp>(std::make_unique<DropCarriedBuffersPass>());
  pm.addNestedPass<func::FuncOp>(std::make_unique<ResolveSizesPass>());
  clean();
  pm.addNestedPass<func::FuncOp>(std::make_unique<ResultsToOutputsPass>());
  pm.addNestedPass<func::FuncOp>(std::make_unique<CopiesToLinalgPass>());
  if (given.hostBuffers)
    pm.addNestedPass<func::FuncOp>(createPollInterruptsPass());
  // Loops.
  pm.addPass(createConvertLinalgToLoopsPass());
  pm.addPass(memref::createFoldMemRefAliasOpsPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(arith::createIntRangeOptimizationsPass());
  clean();
  PlaceScratchPassOptions scratch;
  scratch.checkWorkspace = given.hostBuffers;
  pm.addPass(createPlaceScratchPass(scratch));
  pm.addNestedPass<func::FuncOp>(std::make_unique<ResolveSizesPass>());
  clean();
  pm.addPass(createSCFToControlFlowPass());
  clean();
  pm.addPass(createLowerKernelABIPass());
}

void ssa_compiler::registerKernelPipelines() {
  PassPipelineRegistration<LowerKernelsOptions>(
      "lower-kernels",
      "Turn functions of the linalg stage, marked by --form-kernels, into "
      "kernels on buffers: fusion, One-Shot Bufferize, loops, and "
      "--lower-kernel-abi",
      buildLowerKernels);
}
