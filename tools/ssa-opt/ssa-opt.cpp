// ssa-opt: reads MLIR of the torch, torch_c, tssa and a few upstream dialects,
// runs passes on it and prints the result.

#include "ssa-compiler/InitAll.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

namespace ssa_compiler {
void registerTestPasses();
} // namespace ssa_compiler

int main(int argc, char **argv) {
  ssa_compiler::registerAllPasses();
  ssa_compiler::registerTestPasses();
  mlir::DialectRegistry registry;
  ssa_compiler::registerAllDialects(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "ssa-compiler: pure tensor SSA from TorchScript programs\n",
      registry));
}
