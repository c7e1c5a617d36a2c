//===- KernelRewrites.h - rewrites that make kernels possible ---*- C++ -*-===//
//
// What --form-kernels changes in a function before, or once, it is a kernel.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_LIB_KERNELS_KERNELREWRITES_H
#define SSA_COMPILER_LIB_KERNELS_KERNELREWRITES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ssa_compiler {

/// Whether an op is part of the body of a linalg op.
bool isElementwise(mlir::Operation *op);

/// Lets divisions divide by 1 where dividing would end the process: by 0, where
/// the program's own check raises, and of the smallest number by -1, whose
/// quotient and remainder by 1 are what arithmetic modulo 2^n gives.
void guardDivisions(mlir::func::FuncOp function);

/// Erases assertions about elements: torch-mlir puts one into the reciprocal,
/// which rejects 0. The checks of the program stand in front of its ops.
void dropElementAsserts(mlir::func::FuncOp function);

/// Hides the products of Python floats: the code generator would contract them
/// and the sums that they are part of to multiply-adds, which round once.
void keepProducts(mlir::func::FuncOp function);

/// Puts constants where arguments stand for them, so that torch-mlir does not
/// compute with them.
void materializeConstants(mlir::func::FuncOp function);

/// Rewrites ops on whole tensors as ops that bufferize and fuse.
llvm::LogicalResult rewriteAsLinalg(mlir::func::FuncOp function);

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_KERNELS_KERNELREWRITES_H
