//===- WriteForms.h - which writes have a functional form -------*- C++ -*-===//
//
// What --tssa-rewrite-mutation asks of an op that writes, before it puts the
// op's functional form in its place.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_LIB_TRANSFORMS_WRITEFORMS_H
#define SSA_COMPILER_LIB_TRANSFORMS_WRITEFORMS_H

#include "ssa-compiler/Analysis/TensorAliasAnalysis.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOpInterfaces.h"

namespace ssa_compiler {

/// True if the functional form of an op that writes its first operand gives the
/// dtype of that operand. Where it does not, eager converts, or raises.
bool keepsDtype(torch::TorchSchemaOpInterface op);

/// Checks that of elements that are one in memory the write reaches the first:
/// it is the one that assigns of repeating views store. Fails after an error.
llvm::LogicalResult verifyRepeated(mlir::Operation *op,
                                   const TensorLocation &location);

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_TRANSFORMS_WRITEFORMS_H
