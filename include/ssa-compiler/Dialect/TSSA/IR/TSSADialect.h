//===- TSSADialect.h - the tssa dialect and its ops -------------*- C++ -*-===//
//
// Declarations of the tssa dialect: pure reads and writes of tensor views.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_DIALECT_TSSA_IR_TSSADIALECT_H
#define SSA_COMPILER_DIALECT_TSSA_IR_TSSADIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace ssa_compiler::tssa {
/// True for `!torch.vtensor` types.
bool isValueTensor(mlir::Type type);
} // namespace ssa_compiler::tssa

#include "ssa-compiler/Dialect/TSSA/IR/TSSADialect.h.inc"

#define GET_OP_CLASSES
#include "ssa-compiler/Dialect/TSSA/IR/TSSA.h.inc"

#endif // SSA_COMPILER_DIALECT_TSSA_IR_TSSADIALECT_H
