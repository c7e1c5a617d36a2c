//===- Passes.h - declarations of the passes of this folder -----*- C++ -*-===//
//
// The passes of lib/Transforms, generated from Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_TRANSFORMS_PASSES_H
#define SSA_COMPILER_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace ssa_compiler {

#define GEN_PASS_DECL
#include "ssa-compiler/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ssa-compiler/Transforms/Passes.h.inc"

/// Registers the named pipelines, `--convert-to-tensorssa` among them.
void registerPipelines();

} // namespace ssa_compiler

#endif // SSA_COMPILER_TRANSFORMS_PASSES_H
