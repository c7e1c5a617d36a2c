//===- AddInDouble.h - sums of many floats ----------------------*- C++ -*-===//
//
// Sums of more floats than single precision can add up one after the other.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_LIB_KERNELS_ADDINDOUBLE_H
#define SSA_COMPILER_LIB_KERNELS_ADDINDOUBLE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ssa_compiler {

/// The addition or multiplication of an op that makes a sum or product of
/// floats; null for other ops.
mlir::Operation *findSum(mlir::linalg::LinalgOp op);

/// Lets an op add up, or multiply, in double precision: one number after the
/// other, many of single precision would differ from their sum.
llvm::LogicalResult addInDouble(mlir::linalg::LinalgOp op);

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_KERNELS_ADDINDOUBLE_H
