//===- Ranges.h - the ranges of integers in kernels -------------*- C++ -*-===//

#ifndef SSA_COMPILER_LIB_KERNELS_RANGES_H
#define SSA_COMPILER_LIB_KERNELS_RANGES_H

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlowFramework.h"

namespace ssa_compiler {

/// Lets a solver know the ranges of integers below an op.
inline llvm::LogicalResult analyzeRanges(mlir::DataFlowSolver &solver,
                                         mlir::Operation *op) {
  solver.load<mlir::dataflow::DeadCodeAnalysis>();
  solver.load<mlir::dataflow::SparseConstantPropagation>();
  solver.load<mlir::dataflow::IntegerRangeAnalysis>();
  return solver.initializeAndRun(op);
}

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_KERNELS_RANGES_H
