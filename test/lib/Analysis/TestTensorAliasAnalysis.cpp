//===- TestTensorAliasAnalysis.cpp - print the alias analysis -------------===//
//
// --test-print-tensor-aliases: one line for each mutable tensor of each
// function, "value -> root . views (merge) (written)", and which writes the
// analysis rejects, as errors.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Analysis/TensorAliasAnalysis.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace ssa_compiler;

namespace {

struct TestPrintTensorAliases final
    : PassWrapper<TestPrintTensorAliases, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestPrintTensorAliases)

  StringRef getArgument() const override { return "test-print-tensor-aliases"; }
  StringRef getDescription() const override {
    return "prints the location of each mutable tensor";
  }

  void runOnOperation() override {
    bool failed = false;
    getOperation()->walk([&](FunctionOpInterface function) {
      TensorAliasAnalysis aliases(function);
      llvm::outs() << "function @" << function.getName() << "\n";
      aliases.print(llvm::outs());
      failed |= aliases.verifyMerges().failed();
    });
    if (failed)
      signalPassFailure();
  }
};

} // namespace

namespace ssa_compiler {
void registerTestTensorAliasAnalysisPass();
void registerTestTensorAliasAnalysisPass() {
  PassRegistration<TestPrintTensorAliases>();
}
} // namespace ssa_compiler
