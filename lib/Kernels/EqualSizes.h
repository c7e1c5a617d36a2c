//===- EqualSizes.h - tensors of one size -----------------------*- C++ -*-===//
//
// What --yield-in-place asks of dynamic sizes, by their origins (SizeOrigins.h)
// and the program's assertions.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_LIB_KERNELS_EQUALSIZES_H
#define SSA_COMPILER_LIB_KERNELS_EQUALSIZES_H

#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"

namespace ssa_compiler {

/// Whether two tensors certainly have the same sizes where `at` is reached.
bool haveSameSizes(mlir::Value tensor, mlir::Value other, mlir::Operation *at);

/// Creates a tensor in front of a loop or branch that has the sizes of one
/// inside of it; an error if those are not known there.
mlir::FailureOr<mlir::Value> createOutside(mlir::Operation *op,
                                           mlir::Value tensor);

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_KERNELS_EQUALSIZES_H
