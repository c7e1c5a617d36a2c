//===- CLibrary.h - functions of the C library in kernels -------*- C++ -*-===//
//
// Kernels are linked against nothing. What they call of the C library they call
// by address: the last words of the status buffer, which the caller fills.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_LIB_KERNELS_CLIBRARY_H
#define SSA_COMPILER_LIB_KERNELS_CLIBRARY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ssa_compiler {

/// The attribute of an op that says which function computes it, and that of a
/// kernel with the names of those that it calls.
inline constexpr llvm::StringLiteral kCFunction = "kernel.c_function",
                                     kCFunctions = "kernel.c_functions";

/// The function of the C library that computes what an op on floats does; empty
/// if there is none.
llvm::StringRef findCFunction(mlir::Operation *op);

/// Lets a function of the C library compute an op. What Python computes has to
/// be the same to the last bit, and some ops have no other code.
void callCFunction(mlir::Operation *op);

/// Annotates a kernel with the functions that it calls.
void listCFunctions(mlir::func::FuncOp function);

/// How many functions a kernel calls: so many words of its status buffer, the
/// last ones, are their addresses.
int64_t countCFunctions(mlir::func::FuncOp function);

/// Replaces annotated ops by calls of addresses that the status buffer has.
void lowerCFunctions(mlir::func::FuncOp function, mlir::Value status);

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_KERNELS_CLIBRARY_H
