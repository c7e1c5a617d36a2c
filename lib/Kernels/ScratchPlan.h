//===- ScratchPlan.h - what scratch memory a kernel needs -------*- C++ -*-===//
//
// Which buffers of a kernel are on the stack and which in the workspace, and
// the bytes that these take: known, computed from the arguments, bounded, or
// known only when the kernel comes to them.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_LIB_KERNELS_SCRATCHPLAN_H
#define SSA_COMPILER_LIB_KERNELS_SCRATCHPLAN_H

#include "EntryNumbers.h"

#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace ssa_compiler {

/// Workspace buffers begin at multiples of this.
inline constexpr int64_t kScratchAlignment = 64;

/// The bytes of an element of a buffer.
inline int64_t elementBytes(mlir::MemRefType type) {
  return llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

struct ScratchOptions {
  /// Bytes of scratch memory on the stack.
  int64_t maxStack;
  /// The most bytes reserved for a buffer of which only the most is known.
  int64_t maxReserved;
  /// Whether the caller may be asked for a larger workspace.
  bool checkWorkspace;
};

/// Which buffers of a function are in the workspace, and what they take.
class ScratchPlan {
public:
  /// A buffer in the workspace, which takes the product of some sizes and a
  /// constant, in bytes. Some of the sizes are bounds of others.
  struct Buffer {
    mlir::memref::AllocOp op;
    mlir::SmallVector<mlir::Value> sizes;
    int64_t bytes;
    mlir::SmallVector<std::pair<mlir::Value, mlir::Value>> bounded = {};
  };

  ScratchPlan(mlir::func::FuncOp function, const mlir::DataFlowSolver &ranges,
              ScratchOptions options)
      : function(function), ranges(ranges), builder(function.getContext()),
        numbers(function), options(options) {}

  /// Makes the plan, and moves small buffers to the stack. Fails, after an
  /// error, if a size is not known in time.
  llvm::LogicalResult run();

  /// The numbers, known at entry, that the sizes are computed from.
  EntryNumbers &getNumbers() { return numbers; }

  /// The sizes of results, which the host allocates.
  mlir::ArrayRef<mlir::Value> getResultSizes() const { return resultSizes; }

  /// The buffers that get their places when the kernel is called.
  llvm::MutableArrayRef<Buffer> getBuffers() { return buffers; }

  /// The buffers that get their places when the kernel comes to them.
  mlir::ArrayRef<mlir::memref::AllocOp> getLate() const { return late; }

  /// What asks for the place of a result, and the result.
  mlir::ArrayRef<std::pair<mlir::Operation *, mlir::memref::AllocOp>>
  getResults() const {
    return results;
  }

  /// Whether the caller may be asked for a larger workspace.
  bool mayGrow() const { return options.checkWorkspace; }

private:
  llvm::LogicalResult takeResultSizes();
  llvm::LogicalResult findResults();
  bool isResult(mlir::memref::AllocOp op) const;
  llvm::LogicalResult planBuffers();
  llvm::LogicalResult planDynamic(mlir::memref::AllocOp op);
  bool mayRunAgain();
  uint64_t largest(mlir::Value size) const;
  bool isNeverNegative(mlir::Value number) const;
  mlir::Value boundAtEntry(mlir::Value number, unsigned steps);

  mlir::func::FuncOp function;
  const mlir::DataFlowSolver &ranges;
  mlir::OpBuilder builder;
  EntryNumbers numbers;
  ScratchOptions options;
  mlir::SmallVector<mlir::Value> resultSizes;
  mlir::SmallVector<Buffer> buffers;
  mlir::SmallVector<mlir::memref::AllocOp> late;
  mlir::SmallVector<std::pair<mlir::Operation *, mlir::memref::AllocOp>>
      results;
};

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_KERNELS_SCRATCHPLAN_H
