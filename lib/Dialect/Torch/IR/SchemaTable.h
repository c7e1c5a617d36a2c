// The rows of GeneratedTorchOps.inc, and schemas that come as text. Private to
// the dialect.

#ifndef SSA_COMPILER_LIB_DIALECT_TORCH_IR_SCHEMATABLE_H
#define SSA_COMPILER_LIB_DIALECT_TORCH_IR_SCHEMATABLE_H

#include "ssa-compiler/Dialect/Torch/IR/Schema.h"

#include "mlir/IR/OpImplementation.h"

namespace ssa_compiler::torch {

struct SchemaRow {
  /// `torch.aten.add_.Tensor`
  const char *name;
  const char *schema;
  /// Torch name of the functional counterpart, or empty.
  const char *functional;
  /// The kinds of dtypes that the counterpart keeps: some of "fibps", as in
  /// Schema::keptKinds.
  const char *keptKinds;
  /// Some of "random" and "metadata", separated by spaces.
  const char *flags;
  /// It is an op of the dialect; otherwise only `torch.operator` carries it.
  bool isRegistered;
};

llvm::ArrayRef<SchemaRow> getSchemaRows();

/// The schema of a text, parsed at most once per process; null if it does not
/// parse.
const Schema *internSchema(llvm::StringRef text);

/// The torch name of `name` as it stands in `torch.operator`: with the prefix
/// `torch.`.
std::string getOperatorTorchName(llvm::StringRef name);

/// Parses and prints ops in the form `%a, %b {attributes} : type, type ->
/// type`. A vararg op has parentheses around its operands, and always an arrow
/// if it may have results.
mlir::ParseResult parseSchemaOp(mlir::OpAsmParser &parser,
                                mlir::OperationState &state,
                                const Schema &schema);
void printSchemaOp(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                   const Schema &schema);

/// Checks operand and result counts and types against the schema, and that
/// there are no regions unless allowed.
mlir::LogicalResult verifyAgainstSchema(mlir::Operation *op,
                                        const Schema &schema);

} // namespace ssa_compiler::torch

#endif // SSA_COMPILER_LIB_DIALECT_TORCH_IR_SCHEMATABLE_H
