//===- AlignWhile.h - the tensors of scf.while in one order -----*- C++ -*-===//
//
// One-Shot Bufferize pairs the arguments of the two regions of an scf.while by
// their numbers.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_LIB_KERNELS_ALIGNWHILE_H
#define SSA_COMPILER_LIB_KERNELS_ALIGNWHILE_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ssa_compiler {

/// Rewrites a loop so that its tensors come first and the k-th operand of the
/// condition takes the place of the k-th argument. Fails after an error.
llvm::LogicalResult alignTensors(mlir::scf::WhileOp loop);

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_KERNELS_ALIGNWHILE_H
