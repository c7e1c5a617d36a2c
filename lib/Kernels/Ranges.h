//===- Ranges.h - the ranges of integers in kernels -------------*- C++ -*-===//

#ifndef SSA_COMPILER_LIB_KERNELS_RANGES_H
#define SSA_COMPILER_LIB_KERNELS_RANGES_H

#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlowFramework.h"

#include <optional>

namespace ssa_compiler {

/// What the dynamic sizes of a function's arguments are taken to be.
enum class ArgumentSizes {
  /// At most what `tssa.max_sizes` says, which a call checks.
  Declared,
  /// Those of the example, `tssa.example_sizes`: for cost models only.
  Example,
};

/// What the attribute of a function's argument says of one of its sizes.
std::optional<int64_t> findArgumentSize(mlir::Value tensor, int64_t dim,
                                        ArgumentSizes sizes);

/// Lets a solver know the ranges of integers below an op.
llvm::LogicalResult
analyzeRanges(mlir::DataFlowSolver &solver, mlir::Operation *op,
              ArgumentSizes sizes = ArgumentSizes::Declared);

/// The greatest value of an integer, if its range is bounded by less than what
/// 32 bits hold.
std::optional<int64_t> findUpperBound(const mlir::DataFlowSolver &solver,
                                      mlir::Value value);

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_KERNELS_RANGES_H
