// The torch_c dialect and its ops: casts between torch types and builtin types.

#ifndef SSA_COMPILER_DIALECT_TORCHCONVERSION_IR_TORCHCONVERSIONDIALECT_H
#define SSA_COMPILER_DIALECT_TORCHCONVERSION_IR_TORCHCONVERSIONDIALECT_H

#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ssa-compiler/Dialect/TorchConversion/IR/TorchConversionDialect.h.inc"

#define GET_OP_CLASSES
#include "ssa-compiler/Dialect/TorchConversion/IR/TorchConversion.h.inc"

#endif // SSA_COMPILER_DIALECT_TORCHCONVERSION_IR_TORCHCONVERSIONDIALECT_H
