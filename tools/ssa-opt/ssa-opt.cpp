// ssa-opt: reads MLIR of the torch, torch_c, tssa and a few upstream dialects,
// runs passes on it and prints the result.

#include "ssa-compiler/InitAll.h"
#include "ssa-compiler/Transforms/MutationReport.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

namespace ssa_compiler {
void registerTestPasses();
} // namespace ssa_compiler

int main(int argc, char **argv) {
  ssa_compiler::registerAllPasses();
  ssa_compiler::registerTestPasses();
  mlir::DialectRegistry registry;
  ssa_compiler::registerAllDialects(registry);
  ssa_compiler::registerMutationReportOptions();
  llvm::LogicalResult converted = mlir::MlirOptMain(
      argc, argv, "ssa-compiler: pure tensor SSA from TorchScript programs\n",
      registry);
  // A program that is refused has a report, too.
  llvm::LogicalResult reported = ssa_compiler::emitRequestedReport();
  return mlir::asMainReturnCode(
      llvm::success(succeeded(converted) && succeeded(reported)));
}
