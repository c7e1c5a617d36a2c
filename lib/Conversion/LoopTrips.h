//===- LoopTrips.h - how often a loop runs ----------------------*- C++ -*-===//
//
// The iterations of loops, as numbers in front of them.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_LIB_CONVERSION_LOOPTRIPS_H
#define SSA_COMPILER_LIB_CONVERSION_LOOPTRIPS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ssa_compiler {

/// Iterations that are told apart: the number for an scf.while may be a limit
/// that is never reached.
constexpr int64_t kMostTrips = 1 << 16;

inline mlir::Value createI64(mlir::OpBuilder &builder, mlir::Location loc,
                             int64_t number) {
  return mlir::arith::ConstantIntOp::create(builder, loc, number, 64);
}

/// Builds the number of iterations of an scf.for in front of it, an i64.
mlir::Value buildTripCount(mlir::OpBuilder &builder, mlir::scf::ForOp loop);

/// Builds the most iterations of an scf.while in front of it, an i64 that is
/// about `limit` if there may be more; null if nothing bounds them.
mlir::Value buildMostTrips(mlir::OpBuilder &builder, mlir::scf::WhileOp loop,
                           int64_t limit = kMostTrips);

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_CONVERSION_LOOPTRIPS_H
