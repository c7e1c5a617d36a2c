//===- TorchScalarsToArith.h - torch scalars as builtin scalars -*- C++ -*-===//
//
// Shared by the passes of this folder: the casts between torch and builtin
// scalars, and the conversion of one scalar op to arith and math.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_LIB_CONVERSION_TORCHSCALARSTOARITH_H
#define SSA_COMPILER_LIB_CONVERSION_TORCHSCALARSTOARITH_H

#include "mlir/IR/PatternMatch.h"

namespace ssa_compiler {

/// i64, f64 or i1 for `!torch.int`, `!torch.float` or `!torch.bool`; any other
/// type itself.
mlir::Type getBuiltinScalarType(mlir::Type type);

/// True for `!torch.int`, `!torch.float` and `!torch.bool`.
bool isTorchScalarType(mlir::Type type);

/// Casts a torch scalar to its builtin type; any other value is returned.
mlir::Value toBuiltinScalar(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value value);

/// Casts a builtin scalar to the torch type `type`; if it has the type, it is
/// returned.
mlir::Value toTorchScalar(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value value, mlir::Type type);

/// Replaces an op on torch scalars only by arith and math ops. Returns failure,
/// and changes nothing, if it is not one or has no counterpart.
mlir::LogicalResult convertScalarOp(mlir::RewriterBase &rewriter,
                                    mlir::Operation *op);

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_CONVERSION_TORCHSCALARSTOARITH_H
