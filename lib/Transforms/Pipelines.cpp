//===- Pipelines.cpp - named pipelines of ssa-opt -------------------------===//
//
// The order of the passes that make up TensorSSA conversion, and why.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Transforms/MutationReport.h"
#include "ssa-compiler/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace ssa_compiler;

static void buildConvertToTensorSSA(OpPassManager &pm) {
  // 0. Checks come first: they belong to the moment a view is taken, which the
  //    conversion forgets.
  pm.addPass(createTorchInsertBoundsChecksPass());
  OpPassManager &func = pm.nest<func::FuncOp>();
  SharedReport report = getRequestedReport();
  // What --tssa-report asks for; these passes change nothing.
  auto note = [&](auto createPass) {
    if (report)
      func.addPass(createPass(report));
  };
  note(createBeginMutationReportPass);
  // Names that are one of several tensors, which the paper does not know.
  func.addPass(createTSSAResolveAmbiguousAliasesPass());
  note(createReportAmbiguousAliasesPass);
  // 1.-4. The paper's steps. Nothing may run in between (see tssa.update).
  func.addPass(createTSSARewriteMutationPass());
  func.addPass(createTSSABlockPropagationPass());
  func.addPass(createTSSARenamePass());
  func.addPass(createTSSARemoveUpdatePass());
  note(createReportVersionsPass);
  // 5. Access of an assign, values that loops carry without need, and equal
  //    accesses are gone before the ops lose their meaning as views.
  func.addPass(createTorchSimplifyPass());
  func.addPass(createCSEPass());
  func.addPass(createTorchSimplifyPass());
  note(createReportUpdatesPass);
  func.addPass(createTSSAPromoteSlotsPass());
  func.addPass(createTorchSimplifyPass());
  note(createEndMutationReportPass);
  // 6. Torch ops again.
  func.addPass(createTSSALowerPass());
  func.addPass(createTorchSimplifyPass());
  func.addPass(createCSEPass());
  func.addPass(createRemoveRedundantAssertsPass());
  note(createStripMutationReportPass);
  pm.addPass(createVerifyValueSemanticsPass());
}

void ssa_compiler::registerPipelines() {
  PassPipelineRegistration<>(
      "convert-to-tensorssa",
      "[tensorssa] turn views and in-place writes into pure tensor values, "
      "across scf "
      "regions (runs after --torch-to-scf): torch-insert-bounds-checks, "
      "tssa-resolve-ambiguous-aliases, tssa-rewrite-mutation, "
      "tssa-block-propagation, "
      "tssa-rename, tssa-remove-update, torch-simplify, tssa-promote-slots, "
      "tssa-lower, remove-redundant-asserts, verify-value-semantics",
      [](OpPassManager &pm) { buildConvertToTensorSSA(pm); });
}
