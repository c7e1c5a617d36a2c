//===- VersionUses.h - where the memory of a version ends -------*- C++ -*-===//
//
// Which operands of a program in TensorSSA form reuse the buffer of a version
// (its successor is made there), and which of those need a copy since
// the version is still needed. The definitions are in docs/Report.md.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_ANALYSIS_VERSIONUSES_H
#define SSA_COMPILER_ANALYSIS_VERSIONUSES_H

#include "ssa-compiler/Dialect/TSSA/IR/TSSADialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <string>

namespace ssa_compiler {

/// True if an op makes a version of a tensor that keeps some of its elements:
/// an assign, unless its view shows all of the base, and an op such as
/// `index_put`.
bool keepsElements(mlir::Operation *op);

/// Why the buffer of a version cannot be reused.
struct CopyReason {
  /// `read`, `argument`, `constant`, `iteration` or `twice`.
  llvm::StringRef kind;
  /// The op that needs the version; null for `constant`.
  mlir::Operation *reader = nullptr;
  /// The name of the caller's argument.
  std::string argument;

  /// In words, with the reader's line.
  std::string describe() const;
};

/// The operands that reuse buffers, and why some cannot.
class VersionUses {
public:
  explicit VersionUses(mlir::func::FuncOp function);

  /// The operands whose ops reuse their buffers, in program order.
  llvm::ArrayRef<mlir::OpOperand *> getReuses() const { return reuses; }

  /// The tensor whose memory an op updates, or null. Of assigns that store
  /// through a view of a view, the outermost updates its base.
  mlir::OpOperand *getUpdatedTensor(mlir::Operation *op) const;

  /// Why the reuse needs a copy, or nullopt if it needs none.
  std::optional<CopyReason> getCopyReason(mlir::OpOperand &reuse) const;

  /// The values that may get the buffer that `reuse` takes, transitively
  /// through what is forwarded and updated.
  llvm::SetVector<mlir::Value> getReceivers(mlir::OpOperand &reuse) const;

private:
  void collectNests();
  void collectEdges();
  void collectOwners();
  /// The operand of an op whose result is the same memory in another shape,
  /// null for other ops.
  mlir::OpOperand *getRenamed(mlir::Operation *op) const;
  /// The tensor whose memory a value is, in this or another shape.
  mlir::Value getMemory(mlir::Value value) const;
  /// True if an op uses a tensor for no more than its shape: the base of an
  /// assign to all of it.
  bool isUnread(mlir::OpOperand &use) const;
  llvm::SetVector<mlir::Value> getAliases(mlir::OpOperand &reuse) const;
  mlir::Operation *findReader(mlir::OpOperand &use) const;
  std::optional<CopyReason> explainArgument(mlir::Value version) const;

  /// Assigns whose results are only parts of what an outer assign stores back.
  llvm::DenseSet<mlir::Operation *> inner;
  /// Assigns that store back what assigns in `inner` have changed.
  llvm::DenseSet<mlir::Operation *> outer;
  /// Only asked, but its accessors are not const.
  mutable mlir::func::FuncOp function;
  /// The region successor operands: what control flow forwards each to.
  llvm::DenseMap<mlir::OpOperand *, llvm::SmallVector<mlir::Value, 2>> targets;
  /// Values whose memory is updated, here or where they are forwarded to.
  llvm::DenseSet<mlir::Value> owners;
  llvm::DenseSet<mlir::OpOperand *> reusing;
  llvm::SmallVector<mlir::OpOperand *> reuses;
};

} // namespace ssa_compiler

#endif // SSA_COMPILER_ANALYSIS_VERSIONUSES_H
