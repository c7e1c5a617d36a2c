// The torch dialect's class.

#ifndef SSA_COMPILER_DIALECT_TORCH_IR_TORCHDIALECT_H
#define SSA_COMPILER_DIALECT_TORCH_IR_TORCHDIALECT_H

#include "mlir/IR/Dialect.h"
#include "mlir/Support/TypeID.h"

#include "ssa-compiler/Dialect/Torch/IR/TorchDialect.h.inc"

#endif // SSA_COMPILER_DIALECT_TORCH_IR_TORCHDIALECT_H
