//===- ReduceInTiles.h - reductions in tiles of registers -----------------===//

#ifndef SSA_COMPILER_LIB_KERNELS_REDUCEINTILES_H
#define SSA_COMPILER_LIB_KERNELS_REDUCEINTILES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace ssa_compiler {

/// Turns an op on buffers whose operands are used for several results each, a
/// product of matrices or a convolution, into loops over tiles of results that
/// stay in registers: some rows of as many results as a vector has lanes. What
/// a row has in common with the others is loaded once. Each result is added up
/// in the order of the elements, as by plain loops.
///
/// Returns what is left to do: nothing; the op, if this is no way to compute
/// it; or the op in a branch that is taken if there are few rows.
mlir::linalg::LinalgOp reduceInTiles(mlir::linalg::LinalgOp op,
                                     mlir::RewriterBase &rewriter);

/// Whether `reduceInTiles` will do so with an op on tensors, without a panel:
/// weights that lie the other way are transposed by an op of their own yet.
bool canReduceInTiles(mlir::linalg::LinalgOp op);

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_KERNELS_REDUCEINTILES_H
