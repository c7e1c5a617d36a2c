//===- SSAOptMain.h - the main function of ssa-opt --------------*- C++ -*-===//
//
// What `ssa-opt` and `ssa-opt-test` have in common: the first registers the
// passes of the project, the second those of its tests as well.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_TOOLS_SSAOPTMAIN_H
#define SSA_COMPILER_TOOLS_SSAOPTMAIN_H

namespace ssa_compiler {

/// Registers the dialects and passes of ssa-compiler, reads MLIR, runs the
/// passes that the command line names and prints the result. `--version` names
/// ssa-compiler before LLVM, and `--help` begins with the stages. Returns the
/// exit status.
int ssaOptMain(int argc, char **argv);

} // namespace ssa_compiler

#endif // SSA_COMPILER_TOOLS_SSAOPTMAIN_H
