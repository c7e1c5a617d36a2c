// C++ classes of the torch dialect's hand-written ops, and how to build an op
// that has no class.

#ifndef SSA_COMPILER_DIALECT_TORCH_IR_TORCHOPS_H
#define SSA_COMPILER_DIALECT_TORCH_IR_TORCHOPS_H

#include "ssa-compiler/Dialect/Torch/IR/TorchDialect.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOpInterfaces.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "ssa-compiler/Dialect/Torch/IR/Torch.h.inc"

namespace ssa_compiler::torch {

/// Builds the torch op `name` (`torch.aten.add.Tensor`): the registered op
/// where there is one, else `torch.operator` with `schema` as its `tssa.schema`
/// (looked up in the table if empty).
mlir::Operation *createTorchOp(mlir::OpBuilder &builder, mlir::Location loc,
                               llvm::StringRef name, mlir::TypeRange results,
                               mlir::ValueRange operands,
                               llvm::StringRef schema = {});

} // namespace ssa_compiler::torch

#endif // SSA_COMPILER_DIALECT_TORCH_IR_TORCHOPS_H
