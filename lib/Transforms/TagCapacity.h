//===- TagCapacity.h - values carried beside tensors ------------*- C++ -*-===//
//
// The tags and ints that say what an ambiguous alias (AmbiguousAliasAnalysis.h)
// is travel through region ops as more operands, block arguments and results.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_LIB_TRANSFORMS_TAGCAPACITY_H
#define SSA_COMPILER_LIB_TRANSFORMS_TAGCAPACITY_H

#include "ssa-compiler/Analysis/AmbiguousAliasAnalysis.h"

#include "mlir/IR/PatternMatch.h"

namespace ssa_compiler {

/// The ambiguous aliases of one region op, by whether the op's operands or, for
/// the second region of an `scf.while`, its first region's terminator feeds
/// them.
struct RegionAliases {
  mlir::SmallVector<AmbiguousAlias *> fedByOp;
  mlir::SmallVector<AmbiguousAlias *> fedByCondition;
};

using AliasesByOp = llvm::MapVector<mlir::Operation *, RegionAliases>;

/// The ambiguous aliases of each region op, in program order.
AliasesByOp sortByOp(const AmbiguousAliasAnalysis &analysis);

/// How many values are carried beside the tensors of these ambiguous aliases.
unsigned countExtras(llvm::ArrayRef<AmbiguousAlias *> ambiguous);

/// Appends i64 operands, arguments and results to a region op, all zero for
/// now. Fails for ops other than scf's.
llvm::LogicalResult addTagCapacity(mlir::RewriterBase &rewriter,
                                   mlir::Operation *op,
                                   const RegionAliases &regionAliases);

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_TRANSFORMS_TAGCAPACITY_H
