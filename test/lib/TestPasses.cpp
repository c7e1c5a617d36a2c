// Registers the passes that exist only for tests.

namespace ssa_compiler {

void registerTestTorchAliasingPass();

void registerTestPasses();
void registerTestPasses() { registerTestTorchAliasingPass(); }

} // namespace ssa_compiler
