//===- ThreadPlan.cpp - how threads share the work of a linalg op ---------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "ThreadPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ssa_compiler;

/// A reduction of fewer numbers is not shared.
static constexpr int64_t kFewest = 4;

/// Whether an op combines two numbers, whichever comes first, and in any order.
static bool combines(Operation *op) {
  return isa<arith::AddFOp, arith::AddIOp, arith::MulIOp, arith::MaximumFOp,
             arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp,
             arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp,
             arith::AndIOp, arith::OrIOp>(op);
}

/// Finds the ops that combine a number with what was reduced before; none if
/// one of the results is reduced in another way.
static SmallVector<Operation *> findCombiners(linalg::LinalgOp op) {
  SmallVector<Operation *> combiners;
  for (auto [carried, yielded] :
       llvm::zip_equal(op.getRegionOutputArgs(),
                       op.getBlock()->getTerminator()->getOperands())) {
    Operation *made = yielded.getDefiningOp();
    if (!made || made->getBlock() != op.getBlock() || !combines(made) ||
        !yielded.getType().isIntOrFloat() || !carried.hasOneUse() ||
        !made->hasOneUse() ||
        (made->getOperand(0) == carried) == (made->getOperand(1) == carried))
      return {};
    combiners.push_back(made);
  }
  return combiners;
}

/// The iterations of some loops, if they are static.
static std::optional<int64_t> countTrips(ArrayRef<int64_t> sizes,
                                         ArrayRef<unsigned> loops) {
  int64_t trips = 1;
  for (unsigned loop : loops) {
    if (ShapedType::isDynamic(sizes[loop]))
      return std::nullopt;
    trips *= sizes[loop];
  }
  return trips;
}

ThreadPlan ssa_compiler::planThreads(linalg::LinalgOp op, int64_t threads) {
  ThreadPlan plan;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    (kind == utils::IteratorType::parallel ? plan.parallel : plan.reduced)
        .push_back(loop);
  // A result that the loops reduce into one place after the other.
  for (OpOperand &init : op.getDpsInitsMutable())
    for (unsigned loop : plan.reduced)
      plan.inOrder |= op.getMatchingIndexingMap(&init).isFunctionOfDim(loop);
  if (plan.inOrder || plan.reduced.empty())
    return plan;
  plan.combiners = findCombiners(op);
  if (plan.combiners.empty())
    return plan;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  std::optional<int64_t> results = countTrips(sizes, plan.parallel);
  std::optional<int64_t> numbers = countTrips(sizes, plan.reduced);
  // The innermost loop runs along memory, and so do the threads of a warp.
  bool isAlongMemory = plan.reduced.back() + 1 == op.getNumLoops();
  if ((isAlongMemory || (results && *results * kWarp <= threads)) &&
      (!numbers || *numbers >= kWarp))
    plan.lanes = kWarp;
  if (results && numbers && *results > 0)
    while (plan.parts * 2 * *results * plan.lanes <= threads &&
           plan.parts * 2 * plan.lanes * kFewest <= *numbers)
      plan.parts *= 2;
  return plan;
}
