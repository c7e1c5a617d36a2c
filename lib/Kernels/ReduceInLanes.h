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

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_KERNELS_REDUCEINLANES_H
