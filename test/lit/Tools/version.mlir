// The version of the package comes before LLVM's.
// RUN: ssa-opt --version | FileCheck %s
// CHECK: ssa-compiler version {{[0-9]+\.[0-9]+\.[0-9]+}}
// CHECK: LLVM version 22.
