// Where the views of the torch dialect are given their access and assign.

#ifndef SSA_COMPILER_DIALECT_TORCH_IR_TORCHVIEWOPS_H
#define SSA_COMPILER_DIALECT_TORCH_IR_TORCHVIEWOPS_H

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace ssa_compiler::torch {

/// Attaches a model of TorchViewOpInterface to each view op. Called once, when the dialect is loaded and all its ops are
/// registered.
void registerTorchViewOps(mlir::MLIRContext &context);

} // namespace ssa_compiler::torch

#endif // SSA_COMPILER_DIALECT_TORCH_IR_TORCHVIEWOPS_H
