//===- Pipelines.cpp - from the linalg stage to kernels -------------------===//

#include "ssa-compiler/Kernels/Passes.h"

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
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
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
                  gpu::GPUDialect, linalg::LinalgDialect, LLVM::LLVMDialect,
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
struct LowerKernelsOptions : PassPipelineOptions<LowerKernelsOptions> {
  Option<bool> hostBuffers{
      *this, "host-buffers",
      llvm::cl::desc("The caller keeps the status buffer and the workspace: "
                     "the kernel looks whether it is to stop, and whether the "
                     "workspace is large enough"),
      llvm::cl::init(false)};
  Option<int64_t> threads{
      *this, "threads",
      llvm::cl::desc("Threads of the workgroup that runs a kernel on a GPU; 0 "
                     "for kernels that run in one thread of a CPU"),
      llvm::cl::init(0)};
};
} // namespace

/// Bytes that the threads of a workgroup share: what any GPU has without being
/// asked for more is 48 KiB.
static constexpr int64_t kSharedMemory = 40 << 10;

/// Canonicalisation without a pattern that gives a carried tensor the static
/// size with which the loop begins, though it may yield another size. Patterns
/// have the names that the compiler which built MLIR gives their classes.
static std::unique_ptr<Pass> createCanonicalizer() {
  return createCanonicalizerPass(
      GreedyRewriteConfig(), {"(anonymous namespace)::ForOpTensorCastFolder",
                              "{anonymous}::ForOpTensorCastFolder"});
}

static void buildLowerKernels(OpPassManager &pm,
                              const LowerKernelsOptions &given) {
  auto clean = [&] {
    pm.addPass(createCanonicalizer());
    pm.addPass(createCSEPass());
  };
  // Tensors.
  pm.addPass(createLowerAffinePass()); // sizes of merged dimensions
  pm.addNestedPass<func::FuncOp>(createLinalgGeneralizeNamedOpsPass());
  clean();
  pm.addPass(memref::createResolveShapedTypeResultDimsPass());
  pm.addNestedPass<func::FuncOp>(createUseAssertedEqualitiesPass());
  clean();
  pm.addPass(arith::createIntRangeOptimizationsPass());
  pm.addPass(createSimplifyIndicesPass());
  clean();
  pm.addNestedPass<func::FuncOp>(createFoldSlicesPass());
  pm.addNestedPass<func::FuncOp>(createLinalgInlineScalarOperandsPass());
  pm.addNestedPass<func::FuncOp>(createFuseElementwisePass());
  clean();
  pm.addNestedPass<func::FuncOp>(createFuseIntoLoopsPass());
  pm.addNestedPass<func::FuncOp>(createMergeSiblingsPass());
  pm.addNestedPass<func::FuncOp>(createFuseElementwisePass());
  clean();
  pm.addNestedPass<func::FuncOp>(createReorderLoopsPass());
  pm.addNestedPass<func::FuncOp>(createHoistAssertsPass());
  pm.addPass(createYieldInPlacePass());
  pm.addPass(createComputeInDestinationPass());
  // Buffers.
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  pm.addNestedPass<func::FuncOp>(createDropCarriedBuffersPass());
  pm.addNestedPass<func::FuncOp>(createResolveSizesPass());
  clean();
  ResultsToOutputsPassOptions results;
  results.hostBuffers = given.hostBuffers;
  pm.addNestedPass<func::FuncOp>(createResultsToOutputsPass(results));
  pm.addNestedPass<func::FuncOp>(createForwardCopiesPass());
  pm.addNestedPass<func::FuncOp>(createCopiesToLinalgPass());
  // A GPU would wait for the host's memory in each trip.
  if (given.hostBuffers && given.threads == 0)
    pm.addNestedPass<func::FuncOp>(createPollInterruptsPass());
  // Loops.
  pm.addNestedPass<func::FuncOp>(createCollapseLoopsPass());
  if (given.threads != 0)
    pm.addNestedPass<func::FuncOp>(
        createDistributeToThreadsPass({given.threads}));
  else
    pm.addNestedPass<func::FuncOp>(createLinalgToLoopsPass());
  pm.addNestedPass<func::FuncOp>(createFlattenViewsPass());
  pm.addNestedPass<func::FuncOp>(createResolveSizesPass());
  pm.addPass(memref::createFoldMemRefAliasOpsPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(arith::createIntRangeOptimizationsPass());
  clean();
  PlaceScratchPassOptions scratch;
  scratch.checkWorkspace = given.hostBuffers;
  if (given.threads != 0)
    scratch.maxStack = kSharedMemory;
  pm.addPass(createPlaceScratchPass(scratch));
  pm.addNestedPass<func::FuncOp>(createResolveSizesPass());
  clean();
  pm.addPass(createSCFToControlFlowPass());
  clean();
  pm.addPass(createLowerKernelABIPass());
}

void ssa_compiler::registerKernelPipelines() {
  PassPipelineRegistration<LowerKernelsOptions>(
      "lower-kernels",
      "[kernels] turn functions of the linalg stage, annotated by "
      "--form-kernels, into "
      "kernels on buffers: fusion, One-Shot Bufferize, loops, and "
      "--lower-kernel-abi",
      buildLowerKernels);
}
