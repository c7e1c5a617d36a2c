//===- ChoiceRoom.h - room for what is carried beside tensors ---*- C++ -*-===//
//
// The tags and ints that say what a choice (Choices.h) is travel through region
// ops as more operands, block arguments and results.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_LIB_TRANSFORMS_CHOICEROOM_H
#define SSA_COMPILER_LIB_TRANSFORMS_CHOICEROOM_H

#include "Choices.h"

#include "mlir/IR/PatternMatch.h"

namespace ssa_compiler {

/// The choices of one region op, by whether the op's operands or, for the
/// second region of an `scf.while`, its first region's terminator feeds them.
struct RegionChoices {
  mlir::SmallVector<Choice *> fedByOp;
  mlir::SmallVector<Choice *> fedByCondition;
};

using ChoicesByOp = llvm::MapVector<mlir::Operation *, RegionChoices>;

/// The choices of each region op, in program order.
ChoicesByOp sortByOp(const ChoiceAnalysis &analysis);

/// How many values are carried beside the tensors of these choices.
unsigned countExtras(llvm::ArrayRef<Choice *> choices);

/// Appends i64 operands, arguments and results to a region op, all zero for
/// now. Fails for ops other than scf's.
llvm::LogicalResult addRoom(mlir::RewriterBase &rewriter, mlir::Operation *op,
                            const RegionChoices &choices);

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_TRANSFORMS_CHOICEROOM_H
