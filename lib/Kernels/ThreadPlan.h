//===- ThreadPlan.h - how threads share the work of a kernel ----*- C++ -*-===//
//
// A kernel for a GPU runs in one workgroup. All its threads take the same way
// through loops and branches; the iterations of linalg ops are distributed over
// them, and what cannot be is done by the first thread.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_LIB_KERNELS_THREADPLAN_H
#define SSA_COMPILER_LIB_KERNELS_THREADPLAN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ssa_compiler {

/// Threads that exchange numbers without a barrier.
inline constexpr int64_t kWarp = 32;

/// Marks the branch that only the first thread takes.
inline constexpr llvm::StringLiteral kOneThread = "kernel.one_thread";

/// How the iterations of a linalg op are distributed.
struct ThreadPlan {
  /// The loops whose iterations are independent, and those that reduce.
  llvm::SmallVector<unsigned> parallel, reduced;
  /// The ops that combine a number with what was reduced before, one for each
  /// result, if the order does not matter; else empty.
  llvm::SmallVector<mlir::Operation *> combiners;
  /// The threads that share one reduction: 1 or `kWarp`.
  int64_t lanes = 1;
  /// The parts of one reduction that are reduced apart from each other.
  int64_t parts = 1;
  /// Whether the first thread does it all, one iteration after the other.
  bool inOrder = false;

  /// Whether one thread computes each result, so that it depends on the
  /// iteration alone which one.
  bool isPlain() const { return lanes == 1 && parts == 1 && !inOrder; }
};

/// Decides how an op on buffers is distributed over a number of threads.
ThreadPlan planThreads(mlir::linalg::LinalgOp op, int64_t threads);

/// Replaces an op on buffers by loops, of which each thread runs its part.
void emitThreadLoops(mlir::linalg::LinalgOp op, const ThreadPlan &plan,
                     mlir::Value thread, int64_t threads,
                     mlir::RewriterBase &rewriter);

/// Inserts barriers between what some threads write and others access.
llvm::LogicalResult insertBarriers(mlir::Operation *function, int64_t threads);

/// Lets the workgroups of a kernel wait for each other where there are
/// barriers. Each counts in the workspace; `threadInGroup` is the number of a
/// thread.
void waitForWorkgroups(mlir::func::FuncOp function, mlir::Value threadInGroup);

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_KERNELS_THREADPLAN_H
