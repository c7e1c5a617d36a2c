//===- TensorAliasAnalysis.h - which tensor is in which storage -*- C++ -*-===//
//
// Definitions (docs/Rationale/TensorSSA.md has the argument why they are
// sound).
//
// A *storage* is named by its *root*: the SSA value through which the program
// first got hold of it. Roots are function arguments, results of ops that
// allocate, and *merges*: block arguments and results of region ops and
// selects (and results of ops that may or may not alias) that do not see the
// same location on every way in, or one that is out of scope. A *location* is a
// root and the path of view ops from it. Every tensor value has exactly one
// location, and two values with one root may share memory.
//
// A merge is treated as a storage of its own that takes a snapshot of what
// flows in. That equals the program's meaning unless a write through one name
// would be seen through another one later; `verifyMerges` reports exactly those
// programs.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_ANALYSIS_TENSORALIASANALYSIS_H
#define SSA_COMPILER_ANALYSIS_TENSORALIASANALYSIS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace ssa_compiler {

/// A root and the views that lead from it to a tensor, the outermost first.
struct TensorLocation {
  mlir::Value root;
  mlir::SmallVector<mlir::Operation *, 2> path;

  bool operator==(const TensorLocation &other) const {
    return root == other.root && path == other.path;
  }
  bool operator!=(const TensorLocation &other) const {
    return !(*this == other);
  }
};

/// A value `source` of a mutable tensor that flows into the merge `target`.
struct MergeEdge {
  mlir::OpOperand *source;
  mlir::Value target;
};

/// The locations of all mutable tensors below one function. Must-information:
/// `getLocation` names the one storage and path. Stale as soon as the function
/// changes.
class TensorAliasAnalysis {
public:
  explicit TensorAliasAnalysis(mlir::Operation *function);

  /// The location of a mutable tensor, or null for any other value.
  const TensorLocation *getLocation(mlir::Value tensor) const;

  /// True if some op writes a tensor of this root.
  bool isWritten(mlir::Value root) const { return writers.contains(root); }

  /// The operands of `op` through which it writes mutable tensors.
  llvm::ArrayRef<unsigned> getWrittenOperands(mlir::Operation *op) const;

  /// The roots that ops nested in `op` write and that live outside of it.
  llvm::ArrayRef<mlir::Value> getRootsWrittenBelow(mlir::Operation *op) const;

  /// All edges into values that may become merges, in program order.
  llvm::ArrayRef<MergeEdge> getEdges() const { return edges; }

  /// True if different locations flow into `value`.
  bool isMerge(mlir::Value value) const { return merges.contains(value); }

  /// True if a write can reach what flowed into this merge, through it.
  bool isWrittenDownstream(mlir::Value merge) const {
    return writtenDownstream.contains(merge);
  }

  /// The roots that `root` may be: itself and, if it is a merge, those of what
  /// flows into it.
  llvm::SetVector<mlir::Value> getPossibleRoots(mlir::Value root) const;

  /// The function's arguments that `root` may be, in order: itself, or those
  /// that flow into it if it is a merge.
  llvm::SmallVector<unsigned> getPossibleArguments(mlir::Value root) const;

  /// The edges into merges for which a snapshot is not what the program means.
  llvm::SmallVector<MergeEdge> getConflicts() const;

  /// True if `edge`, from a tensor with root `root` into a merge, is in
  /// conflict once `other` may be that storage too: a write through one of the
  /// two can be seen through the other one.
  bool conflictsWith(const MergeEdge &edge, mlir::Value root,
                     mlir::Value other) const;

  /// Emits an error for each write that the snapshot view of merges would get
  /// wrong, and for each op whose effect on tensors is unknown.
  llvm::LogicalResult verifyMerges() const;

  /// Prints one line for each tensor value, in program order.
  void print(llvm::raw_ostream &os) const;

private:
  void computeLocations();
  void visitOperation(mlir::Operation *op);
  void addEdge(mlir::OpOperand &source, mlir::Value target);
  bool addConflictingMerges();
  void collectWrites();
  void collectUses();
  bool isLiveAfter(const MergeEdge &edge, mlir::Value root, bool writesOnly,
                   mlir::Value other = {}) const;
  bool rejoins(const MergeEdge &edge, mlir::OpOperand *use) const;
  llvm::DenseSet<mlir::Value> getMergesBelow(mlir::Value merge) const;

  mlir::Operation *function;
  llvm::DenseMap<mlir::Value, TensorLocation> locations;
  llvm::DenseSet<mlir::Value> merges;
  llvm::SmallVector<MergeEdge> edges;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::OpOperand *>> writers;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::OpOperand *>> uses;
  /// The merges that an operand flows into.
  llvm::DenseMap<mlir::OpOperand *, llvm::SmallVector<mlir::Value, 1>> forwards;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<unsigned, 1>>
      writtenOperands;
  llvm::DenseMap<mlir::Operation *, llvm::SetVector<mlir::Value>> writtenBelow;
  /// Merges through which a write can reach memory that flowed into them.
  llvm::DenseSet<mlir::Value> writtenDownstream;
};

/// True if `later` may run after `from`, neither of them in the other, while
/// the tensor of `root` lives: later in a block, or anywhere in a loop that
/// does not make the tensor anew.
bool mayRunLater(mlir::Operation *from, mlir::Operation *later,
                 mlir::Value root);

} // namespace ssa_compiler

#endif // SSA_COMPILER_ANALYSIS_TENSORALIASANALYSIS_H
