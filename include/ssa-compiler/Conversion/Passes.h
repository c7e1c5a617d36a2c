//===- Passes.h - declarations of the passes of this folder -----*- C++ -*-===//
//
// The passes of lib/Conversion, generated from Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_CONVERSION_PASSES_H
#define SSA_COMPILER_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace ssa_compiler {

#define GEN_PASS_DECL
#include "ssa-compiler/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ssa-compiler/Conversion/Passes.h.inc"

} // namespace ssa_compiler

#endif // SSA_COMPILER_CONVERSION_PASSES_H
