// ssa-opt: reads MLIR of the torch, torch_c, tssa and a few upstream dialects,
// runs passes on it and prints the result.

#include "ssa-compiler/Tools/SSAOptMain.h"

int main(int argc, char **argv) { return ssa_compiler::ssaOptMain(argc, argv); }
