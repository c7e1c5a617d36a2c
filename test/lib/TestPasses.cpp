// Registers the passes and view ops that exist only for tests.

namespace ssa_compiler {

void registerTestTensorAliasAnalysisPass();
void registerTestTorchAliasingPass();
void registerTestViewOps();

void registerTestPasses();
void registerTestPasses() {
  registerTestTensorAliasAnalysisPass();
  registerTestTorchAliasingPass();
  registerTestViewOps();
}

} // namespace ssa_compiler
