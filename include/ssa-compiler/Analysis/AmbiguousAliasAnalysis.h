//===- AmbiguousAliasAnalysis.h - what a merge can be -----------*- C++ -*-===//
//
// A merge (TensorAliasAnalysis.h) whose snapshot is not what the program means
// is an *ambiguous alias*: at run time it is one of finitely many *candidates*.
// A candidate is a storage that lives outside of the region op, with a path of
// views, or the merge's own storage, into which what a region made has moved.
// Which candidate it is, and the ints in its path that differ from one edge
// to the next (`row = a[i + 1]`), are dynamic values beside the tensor.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_ANALYSIS_AMBIGUOUSALIASANALYSIS_H
#define SSA_COMPILER_ANALYSIS_AMBIGUOUSALIASANALYSIS_H

#include "ssa-compiler/Analysis/TensorAliasAnalysis.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <memory>
#include <vector>

namespace ssa_compiler {

/// An operand of a view in a path: a value that is known wherever the path is
/// used, an int that is carried beside the tensor, or a list of such.
struct CandidateParam {
  enum class Kind { Fixed, Carried, List };
  Kind kind;
  mlir::Type type;
  /// The value if fixed (a constant may lie anywhere: it is cloned).
  mlir::Value value;
  /// Position among the carried ints of the ambiguous alias.
  unsigned position = 0;
  std::vector<CandidateParam> elements;
};

/// One view of a path.
struct CandidateStep {
  mlir::StringAttr view;
  mlir::StringAttr schema;
  mlir::Type resultType;
  mlir::SmallVector<CandidateParam> params;
};

using CandidatePath = mlir::SmallVector<CandidateStep>;

/// One of the tensors that an ambiguous alias can be.
struct AliasCandidate {
  /// Null: the ambiguous alias's own storage.
  mlir::Value root;
  CandidatePath path;
};

/// The values that one operand position of a region op feeds.
struct AmbiguousAlias {
  mlir::Operation *regionOp;
  /// Block arguments and results; all get the same tensor on each edge.
  mlir::SmallVector<mlir::Value, 2> members;
  /// The operands that flow in.
  mlir::SmallVector<mlir::OpOperand *, 2> sources;
  mlir::SmallVector<AliasCandidate, 2> candidates;
  unsigned numCarried = 0;

  bool hasTag() const { return candidates.size() > 1; }
  unsigned getNumExtras() const { return numCarried + (hasTag() ? 1 : 0); }
  bool hasOwnStorage() const;
};

/// All ambiguous aliases of a function.
class AmbiguousAliasAnalysis {
public:
  explicit AmbiguousAliasAnalysis(const TensorAliasAnalysis &aliases)
      : aliases(aliases) {}

  /// Finds the ambiguous aliases. Fails, after an error, if one cannot be
  /// described by finitely many candidates.
  llvm::LogicalResult run();

  /// The ambiguous aliases in program order, outer ops first.
  llvm::ArrayRef<std::unique_ptr<AmbiguousAlias>> getAmbiguousAliases() const {
    return ambiguous;
  }

  /// The ambiguous alias that `value` is a member of, or null.
  AmbiguousAlias *lookup(mlir::Value value) const {
    return aliasOf.lookup(value);
  }

  /// True if `root` is an ambiguous alias that may be a storage which a region
  /// of `regionOp` made elsewhere: forwarding it moves that storage, not the
  /// ambiguous alias's own.
  bool movesOther(mlir::Value root, mlir::Operation *regionOp) const;

  /// The path of a location, with the operands of its views as fixed params.
  static CandidatePath getPath(llvm::ArrayRef<mlir::Operation *> views);

  /// The candidate of `alias` with this root and a path that differs at most
  /// in carried ints.
  static std::optional<unsigned>
  findCandidate(const AmbiguousAlias &alias, mlir::Value root,
                llvm::ArrayRef<CandidateStep> path);

private:
  llvm::SmallVector<mlir::Value> collectDrawnIn() const;
  llvm::LogicalResult findAmbiguousAliases(llvm::ArrayRef<mlir::Value> members);
  void groupMembers(llvm::ArrayRef<mlir::Value> members);
  llvm::LogicalResult addCandidates(AmbiguousAlias &alias, mlir::Value root,
                                    CandidatePath path, bool &changed);
  llvm::LogicalResult addCandidate(AmbiguousAlias &alias, mlir::Value root,
                                   CandidatePath path, bool &changed);
  void numberCarried(AmbiguousAlias &alias);
  void collectMoved(mlir::Value root, mlir::Operation *regionOp,
                    llvm::SmallSetVector<mlir::Value, 4> &moved) const;
  llvm::LogicalResult checkMoves() const;

  const TensorAliasAnalysis &aliases;
  llvm::SmallVector<std::unique_ptr<AmbiguousAlias>> ambiguous;
  llvm::DenseMap<mlir::Value, AmbiguousAlias *> aliasOf;
};

/// True if `value` is defined outside of `regionOp`, so that it means the same
/// in all its regions and after it.
bool isDefinedOutside(mlir::Value value, mlir::Operation *regionOp);

} // namespace ssa_compiler

#endif // SSA_COMPILER_ANALYSIS_AMBIGUOUSALIASANALYSIS_H
