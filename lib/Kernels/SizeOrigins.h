//===- SizeOrigins.h - where the sizes of tensors come from -----*- C++ -*-===//

#ifndef SSA_COMPILER_LIB_KERNELS_SIZEORIGINS_H
#define SSA_COMPILER_LIB_KERNELS_SIZEORIGINS_H

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Value.h"

namespace ssa_compiler {

/// Where a size comes from: a number, or a dimension of a tensor of which no
/// more is known.
struct SizeOrigin {
  mlir::OpFoldResult number;
  mlir::Value tensor;
  int64_t dim = 0;

  bool operator==(const SizeOrigin &other) const {
    return number == other.number && tensor == other.tensor && dim == other.dim;
  }
};

/// Finds where a size of a tensor comes from. It takes for granted that tensors
/// keep their sizes from trip to trip of a loop, as they have to if they are to
/// stay in one buffer; whoever uses it checks what the loops yield.
SizeOrigin findSizeOrigin(mlir::Value tensor, int64_t dim);

/// Finds where a number comes from that may be a size.
SizeOrigin findNumberOrigin(mlir::OpFoldResult number);

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_KERNELS_SIZEORIGINS_H
