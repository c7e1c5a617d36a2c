//===- Choices.h - the tensors that a merge can be --------------*- C++ -*-===//
//
// A merge (TensorAliasAnalysis.h) whose snapshot is not what the program means
// is a *choice*: at run time it is one of finitely many *alternatives*. An
// alternative is a storage that lives outside of the region op, with a path of
// views, or the merge's own storage, into which what a region made has moved.
// Which alternative it is, and the ints in its path that differ from one edge
// to the next (`row = a[i + 1]`), are run-time values beside the tensor.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_LIB_TRANSFORMS_CHOICES_H
#define SSA_COMPILER_LIB_TRANSFORMS_CHOICES_H

#include "ssa-compiler/Analysis/TensorAliasAnalysis.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <memory>
#include <vector>

namespace ssa_compiler {

/// An operand of a view in a path: a value that is known wherever the path is
/// used, an int that is carried beside the tensor, or a list of such.
struct ChoiceParam {
  enum class Kind { Fixed, Carried, List };
  Kind kind;
  mlir::Type type;
  /// The value if fixed (a constant may lie anywhere: it is cloned).
  mlir::Value value;
  /// Position among the carried ints of the choice.
  unsigned position = 0;
  std::vector<ChoiceParam> elements;
};

/// One view of a path.
struct ChoiceStep {
  mlir::StringAttr view;
  mlir::StringAttr schema;
  mlir::Type resultType;
  mlir::SmallVector<ChoiceParam> params;
};

using ChoicePath = mlir::SmallVector<ChoiceStep>;

/// One of the tensors that a choice can be.
struct Alternative {
  /// Null: the choice's own storage.
  mlir::Value root;
  ChoicePath path;
};

/// The values that one operand position of a region op feeds.
struct Choice {
  mlir::Operation *regionOp;
  /// Block arguments and results; all get the same tensor on each edge.
  mlir::SmallVector<mlir::Value, 2> members;
  /// The operands that flow in.
  mlir::SmallVector<mlir::OpOperand *, 2> sources;
  mlir::SmallVector<Alternative, 2> alternatives;
  unsigned numCarried = 0;

  bool hasTag() const { return alternatives.size() > 1; }
  unsigned getNumExtras() const { return numCarried + (hasTag() ? 1 : 0); }
  bool hasOwnStorage() const;
};

/// All choices of a function.
class ChoiceAnalysis {
public:
  explicit ChoiceAnalysis(const TensorAliasAnalysis &aliases)
      : aliases(aliases) {}

  /// Finds the choices. Fails, after an error, if one cannot be described by
  /// finitely many alternatives.
  llvm::LogicalResult run();

  /// The choices in program order, outer ops first.
  llvm::ArrayRef<std::unique_ptr<Choice>> getChoices() const { return choices; }

  /// The choice that `value` is a member of, or null.
  Choice *lookup(mlir::Value value) const { return choiceOf.lookup(value); }

  /// True if `root` is a choice that may be a storage which a region of
  /// `regionOp` made elsewhere: handing it on moves that storage, not the
  /// choice's own.
  bool movesOther(mlir::Value root, mlir::Operation *regionOp) const;

  /// The path of a location, with the operands of its views as fixed params.
  static ChoicePath getPath(llvm::ArrayRef<mlir::Operation *> views);

  /// The alternative of `choice` with this root and a path that differs at most
  /// in carried ints.
  static std::optional<unsigned>
  findAlternative(const Choice &choice, mlir::Value root,
                  llvm::ArrayRef<ChoiceStep> path);

private:
  llvm::SmallVector<mlir::Value> collectDrawnIn() const;
  llvm::LogicalResult findChoices(llvm::ArrayRef<mlir::Value> members);
  void groupMembers(llvm::ArrayRef<mlir::Value> members);
  llvm::LogicalResult addAlternatives(Choice &choice, mlir::Value root,
                                      ChoicePath path, bool &changed);
  llvm::LogicalResult addAlternative(Choice &choice, mlir::Value root,
                                     ChoicePath path, bool &changed);
  void numberCarried(Choice &choice);
  void collectMoved(mlir::Value root, mlir::Operation *regionOp,
                    llvm::SmallSetVector<mlir::Value, 4> &moved) const;
  llvm::LogicalResult checkMoves() const;

  const TensorAliasAnalysis &aliases;
  llvm::SmallVector<std::unique_ptr<Choice>> choices;
  llvm::DenseMap<mlir::Value, Choice *> choiceOf;
};

/// True if `value` is defined outside of `regionOp`, so that it means the same
/// in all its regions and after it.
bool isDefinedOutside(mlir::Value value, mlir::Operation *regionOp);

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_TRANSFORMS_CHOICES_H
