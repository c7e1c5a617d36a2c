// Umbrella of the torch dialect's TableGen files, in order of use: dialect, types, interfaces, hand-written ops. The ops
// that PyTorch's schemas describe are not here: they are registered from GeneratedTorchOps.inc.

#ifndef SSA_COMPILER_DIALECT_TORCH_IR_TORCH_TD
#define SSA_COMPILER_DIALECT_TORCH_IR_TORCH_TD

include "ssa-compiler/Dialect/Torch/IR/TorchDialect.td"
include "ssa-compiler/Dialect/Torch/IR/TorchTypes.td"
include "ssa-compiler/Dialect/Torch/IR/TorchOpInterfaces.td"
include "ssa-compiler/Dialect/Torch/IR/TorchOps.td"

#endif // SSA_COMPILER_DIALECT_TORCH_IR_TORCH_TD
