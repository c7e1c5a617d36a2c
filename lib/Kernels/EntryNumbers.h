//===- EntryNumbers.h - what is known when a kernel is called ---*- C++ -*-===//

#ifndef SSA_COMPILER_LIB_KERNELS_ENTRYNUMBERS_H
#define SSA_COMPILER_LIB_KERNELS_ENTRYNUMBERS_H

#include "Roles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace ssa_compiler {

/// Numbers that are computed from what a kernel is called with, before the
/// call.
class EntryNumbers {
public:
  explicit EntryNumbers(mlir::func::FuncOp function) : function(function) {}

  /// Adds a number and what it is computed from; returns whether that is
  /// arithmetic on numbers among the arguments and on sizes of inputs.
  bool add(mlir::Value number);

  /// Computes the numbers again elsewhere. `mapping` has what stands for the
  /// arguments there, and gets what stands for the numbers.
  void clone(mlir::OpBuilder &builder, mlir::IRMapping &mapping) const;

  /// The sizes of inputs among them.
  llvm::SmallVector<mlir::memref::DimOp> getDims() const;

private:
  mlir::func::FuncOp function;
  /// In an order in which each comes after its operands.
  llvm::SetVector<mlir::Operation *> ops;
};

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_KERNELS_ENTRYNUMBERS_H
