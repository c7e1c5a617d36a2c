// C++ side of TorchOpInterfaces.td, with the functions that answer alias
// questions from a schema.

#ifndef SSA_COMPILER_DIALECT_TORCH_IR_TORCHOPINTERFACES_H
#define SSA_COMPILER_DIALECT_TORCH_IR_TORCHOPINTERFACES_H

#include "ssa-compiler/Dialect/Torch/IR/Schema.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>

namespace ssa_compiler::torch {

class ViewModel;

/// The pure form of an in-place op.
struct FunctionalOp {
  /// `torch.aten.add.Tensor`.
  llvm::StringRef name;
  /// Its schema; never null, and valid as long as the process.
  const Schema *schema;
};

/// True if `op`, described by `schema` (null: unknown), may write what its
/// operand `index` refers to.
bool isWrittenOperand(mlir::Operation *op, const Schema *schema,
                      unsigned index);

/// True if result `result` of `op` may share storage with its operand
/// `operand`.
bool mayAliasOperand(mlir::Operation *op, const Schema *schema, unsigned result,
                     unsigned operand);

/// Appends the memory effects of `op` that follow from `schema` (null: unknown)
/// and its operand and result types: it reads every operand that can be written
/// by someone, writes those that the schema says, allocates fresh mutable
/// results, and has an effect on the outside if it is random, prints, raises or
/// returns nothing.
void getSchemaEffects(
    mlir::Operation *op, const Schema *schema,
    llvm::SmallVectorImpl<mlir::MemoryEffects::EffectInstance> &effects);

/// True if `value` is a list made by `torch.prim.ListConstruct` that is only
/// read: all its uses are operands of schema ops that neither write it nor
/// return anything that shares its elements.
bool isNeverWrittenList(mlir::Value value);

} // namespace ssa_compiler::torch

#include "ssa-compiler/Dialect/Torch/IR/TorchOpInterfaces.h.inc"

#endif // SSA_COMPILER_DIALECT_TORCH_IR_TORCHOPINTERFACES_H
