//===- RegionEdges.h - values that regions forward --------------*- C++ -*-===//
//
// The one place that knows which operand of a region op or its terminators
// becomes which block argument or result.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_SUPPORT_REGIONEDGES_H
#define SSA_COMPILER_SUPPORT_REGIONEDGES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace ssa_compiler {

/// Calls `fn` for each operand that control flow forwards into a region or out
/// of the region op `op`, with the value that receives it. Calls nothing for
/// ops without `RegionBranchOpInterface`.
void forEachRegionEdge(
    mlir::Operation *op,
    llvm::function_ref<void(mlir::OpOperand &, mlir::Value)> fn);

/// What control flow forwards into a block argument or result of a region op.
struct ForwardedValues {
  /// By the op itself, from around it.
  llvm::SmallVector<mlir::Value> entering;
  /// By the terminators of its regions.
  llvm::SmallVector<mlir::Value> inside;
};

/// Finds what is forwarded into `target`; nothing if it is not a block argument
/// or result of an op with `RegionBranchOpInterface`.
ForwardedValues findForwardedValues(mlir::Value target);

} // namespace ssa_compiler

#endif // SSA_COMPILER_SUPPORT_REGIONEDGES_H
