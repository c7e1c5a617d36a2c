//===- RegionUtils.h - region ops with more values --------------*- C++ -*-===//
//
// Shared by the passes that carry new values through scf ops.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_SUPPORT_REGIONUTILS_H
#define SSA_COMPILER_SUPPORT_REGIONUTILS_H

#include "mlir/IR/PatternMatch.h"

namespace ssa_compiler {

/// Creates `op` again with `operands` and results of `types` appended, moving
/// its regions, and replaces and erases `op`. Terminators and block arguments
/// are the caller's to extend.
mlir::Operation *rebuildRegionOp(mlir::RewriterBase &rewriter,
                                 mlir::Operation *op, mlir::ValueRange operands,
                                 mlir::TypeRange types);

} // namespace ssa_compiler

#endif // SSA_COMPILER_SUPPORT_REGIONUTILS_H
