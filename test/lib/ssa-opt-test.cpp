// ssa-opt-test: ssa-opt, and the passes and view ops that exist only for tests.

#include "ssa-compiler/Tools/SSAOptMain.h"

namespace ssa_compiler {
void registerTestTensorAliasAnalysisPass();
void registerTestTorchAliasingPass();
void registerTestViewOps();
} // namespace ssa_compiler

int main(int argc, char **argv) {
  ssa_compiler::registerTestTensorAliasAnalysisPass();
  ssa_compiler::registerTestTorchAliasingPass();
  ssa_compiler::registerTestViewOps();
  return ssa_compiler::ssaOptMain(argc, argv);
}
