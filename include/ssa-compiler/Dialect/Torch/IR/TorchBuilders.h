//===- TorchBuilders.h - building torch ops by name -------------*- C++ -*-===//
//
// Torch ops are known by name and schema rather than by C++ classes; these
// functions build the small ones that lowerings need (`createTorchOp` of
// TorchOps.h builds any op).
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_DIALECT_TORCH_IR_TORCHBUILDERS_H
#define SSA_COMPILER_DIALECT_TORCH_IR_TORCHBUILDERS_H

#include "mlir/IR/Builders.h"

namespace ssa_compiler::torch {

/// `torch.constant.int`.
mlir::Value createIntConstant(mlir::OpBuilder &builder, mlir::Location loc,
                              int64_t value);

/// `torch.constant.none`.
mlir::Value createNoneConstant(mlir::OpBuilder &builder, mlir::Location loc);

/// `torch.prim.ListConstruct` of `!torch.int`s.
mlir::Value createIntList(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::ValueRange ints);

/// The size of dimension `dim` of `tensor`, a constant where the type knows it.
/// Requires a known rank.
mlir::Value createSize(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value tensor, int64_t dim);

/// The sizes of `tensor` as a list. Requires a known rank.
mlir::Value createSizeList(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value tensor);

/// The value of an integer constant, torch or builtin, or nullopt.
std::optional<int64_t> getIntConstant(mlir::Value value);

/// The values of a list that ListConstruct builds from integer constants.
std::optional<llvm::SmallVector<int64_t>> getIntListConstant(mlir::Value value);

} // namespace ssa_compiler::torch

#endif // SSA_COMPILER_DIALECT_TORCH_IR_TORCHBUILDERS_H
