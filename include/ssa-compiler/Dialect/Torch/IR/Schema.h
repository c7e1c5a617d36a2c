// PyTorch operator schemas: what an op takes and returns, what it writes and
// what its results share storage with.
//
// The grammar is that of torch/csrc/jit/frontend/function_schema_parser.cpp:
//   aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) ->
//   Tensor(a!)

#ifndef SSA_COMPILER_DIALECT_TORCH_IR_SCHEMA_H
#define SSA_COMPILER_DIALECT_TORCH_IR_SCHEMA_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mlir {
class Type;
} // namespace mlir

namespace ssa_compiler::torch {

/// The alias annotation of an argument or a return: `(a)`, `(a!)`, `(a -> *)`,
/// `(a|b)`, `(*)`.
struct AliasInfo {
  /// False if there is no annotation: the argument is only read, the return is
  /// fresh.
  bool present = false;
  /// `!`: the op writes it.
  bool isWrite = false;
  /// `*`: it may be anything (a set, before or after the arrow, is the
  /// wildcard).
  bool wildcard = false;
  /// The names of the sets before and after the op (`a` of `(a!)`), in order.
  llvm::SmallVector<std::string, 1> sets;

  /// True if both are annotated, and share a set or one is a wildcard.
  bool mayAlias(const AliasInfo &other) const;
};

/// One argument or return.
struct Argument {
  /// Empty for most returns.
  std::string name;
  /// The type without alias annotations: `Tensor`, `int[2]`, `Tensor?[]`,
  /// `Dict(str, t)`, `(int, int)`.
  std::string type;
  /// Annotation of the value itself (of the list, for `Tensor(a)[]`, it is that
  /// of the elements).
  AliasInfo alias;
  /// After the `*`.
  bool kwargOnly = false;
  /// The default's text, without quotes removed.
  std::optional<std::string> defaultValue;
};

struct Schema {
  /// `aten::add_`
  std::string name;
  /// `Tensor`, often empty.
  std::string overload;
  llvm::SmallVector<Argument> arguments;
  llvm::SmallVector<Argument> returns;
  /// `...` among the arguments or returns: more may follow.
  bool isVararg = false;
  bool isVarret = false;
  /// Facts that are not in the schema string. PyTorch tags the op
  /// nondeterministic_seeded, or it takes a Generator.
  bool isRandom = false;
  /// PyTorch tags it inplace_view: it changes more of an argument than its
  /// contents (sizes, strides, storage).
  bool changesMetadata = false;
  /// Of an in-place op: the kinds of dtypes of `self` ('f', 'i', 'b') that the
  /// functional counterpart gives back, and 'p' if a wider dtype of another
  /// tensor promotes what it gives, 's' if a number of another kind does.
  std::string keptKinds;

  /// `torch.aten.add_.Tensor`.
  std::string getTorchName() const;
  /// True if any argument is annotated as written.
  bool hasWrites() const;
};

/// Parses a schema string. On failure returns failure and, if `error` is given,
/// says why in it.
mlir::FailureOr<Schema> parseSchema(llvm::StringRef text,
                                    std::string *error = nullptr);

/// True if a value of `type` may be given where the schema says `schemaType`.
bool isAccepted(llvm::StringRef schemaType, mlir::Type type);

/// The table row of a torch op (`torch.aten.add_.Tensor`), registered or not,
/// or null.
const Schema *lookupSchema(llvm::StringRef torchName);

/// The schema text of that row, empty if there is none.
llvm::StringRef lookupSchemaText(llvm::StringRef torchName);

/// The schema of an in-place op run on copies of what it writes: named
/// `functionalized::aten.fill_diagonal_`, it writes nothing, and returns the
/// copies, in the order of the arguments, and then what the op returns besides
/// them. Nullopt for an op that changes more than contents, or writes a list
/// (the number of whose elements no schema says).
std::optional<std::string> getFunctionalizedSchema(const Schema &schema);

/// The torch name of the functional counterpart of an in-place op, empty if it
/// has none.
llvm::StringRef lookupFunctionalName(llvm::StringRef torchName);

} // namespace ssa_compiler::torch

#endif // SSA_COMPILER_DIALECT_TORCH_IR_SCHEMA_H
