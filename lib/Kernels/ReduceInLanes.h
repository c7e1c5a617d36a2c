//===- ReduceInLanes.h - reductions in the lanes of vectors ---------------===//

#ifndef SSA_COMPILER_LIB_KERNELS_REDUCEINLANES_H
#define SSA_COMPILER_LIB_KERNELS_REDUCEINLANES_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace ssa_compiler {

/// Combines in the lanes of a vector what an innermost loop adds to numbers
/// that it carries, or finds the largest or smallest of, if all it does is
/// arithmetic on numbers that lie side by side.
///
/// Lane l of L adds up the numbers l, l + L, l + 2L, ...; then the upper half
/// of the lanes is added to the lower one until one is left, which is added to
/// what the loop began with, and after that what is left of the numbers, one by
/// one. LLVM does not do it, as it changes the order of the additions, and does
/// not know that of the largest one it makes no difference.
void reduceInLanes(mlir::scf::ForOp loop, mlir::RewriterBase &rewriter);

/// Whether an op does the same to all lanes of vectors, in few instructions.
bool isVectorizable(mlir::Operation *op);

/// Whether an op combines numbers, in whichever order. A sum of floats depends
/// on the order; the largest and the smallest one, and what holds for all or
/// for any, do not, and may begin with what is combined as often as one likes.
bool combines(mlir::Operation *op);

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_KERNELS_REDUCEINLANES_H
