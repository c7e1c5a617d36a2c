//===- LoopTrips.cpp - how often a loop runs ------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "LoopTrips.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ssa_compiler;

/// Collects what has to hold for a condition to hold.
static void collectConjuncts(Value condition, SmallVectorImpl<Value> &found) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    collectConjuncts(both.getLhs(), found);
    collectConjuncts(both.getRhs(), found);
    return;
  }
  if (auto branch = condition.getDefiningOp<scf::IfOp>()) {
    // `a and b`
    unsigned number = cast<OpResult>(condition).getResultNumber();
    if (!branch.getElseRegion().empty() &&
        matchPattern(branch.elseYield().getOperand(number), m_Zero())) {
      collectConjuncts(branch.getCondition(), found);
      collectConjuncts(branch.thenYield().getOperand(number), found);
      return;
    }
  }
  found.push_back(condition);
}

namespace {

/// Two numbers of which the first is less than the second, or equal to it.
struct Comparison {
  Value small, large;
  bool orEqual;
};

} // namespace

/// What holds if `condition` does.
static std::optional<Comparison> getComparison(Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || !compare.getLhs().getType().isInteger(64))
    return std::nullopt;
  Value lhs = compare.getLhs(), rhs = compare.getRhs();
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::slt:
    return Comparison{lhs, rhs, false};
  case arith::CmpIPredicate::sle:
    return Comparison{lhs, rhs, true};
  case arith::CmpIPredicate::sgt:
    return Comparison{rhs, lhs, false};
  case arith::CmpIPredicate::sge:
    return Comparison{rhs, lhs, true};
  default:
    return std::nullopt;
  }
}

/// True if `value` is `before` and at least 1, or at most -1 if it shrinks, on
/// each way through branches.
static bool isStep(Value value, Value before, bool grows) {
  if (auto branch = value.getDefiningOp<scf::IfOp>()) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    return llvm::all_of(branch->getRegions(), [&](Region &region) {
      return isStep(region.front().getTerminator()->getOperand(number), before,
                    grows);
    });
  }
  Operation *op = value.getDefiningOp();
  APInt step;
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op) ||
      op->getOperand(0) != before ||
      !matchPattern(op->getOperand(1), m_ConstantInt(&step)))
    return false;
  return isa<arith::AddIOp>(op) == grows ? step.isStrictlyPositive()
                                         : step.isNegative();
}

/// The number of an int that an scf.while carries, and that grows, or shrinks,
/// in each iteration; `value` is what it is at the head, or at the end of an
/// iteration.
static std::optional<unsigned> getCounter(scf::WhileOp loop, Value value,
                                          bool grows) {
  for (unsigned number = 0; number < loop.getInits().size(); ++number) {
    Value head = loop.getBeforeArguments()[number];
    Value last = loop.getYieldOp().getOperand(number);
    if ((value != head && value != last) || !head.getType().isInteger(64))
      continue;
    for (BlockArgument inside : loop.getAfterArguments())
      if (loop.getConditionOp().getArgs()[inside.getArgNumber()] == head &&
          isStep(last, inside, grows))
        return number;
  }
  return std::nullopt;
}

/// Builds how often a counter that grows from `comparison.small`, or shrinks
/// from `comparison.large`, can be changed while the comparison holds; at least
/// `least`.
static Value buildDistance(OpBuilder &builder, Location loc,
                           const Comparison &comparison, int64_t least) {
  auto predicate = comparison.orEqual ? arith::CmpIPredicate::sge
                                      : arith::CmpIPredicate::sgt;
  // The difference may not be one of 64 bits, but with a sign.
  Value isAhead = builder.createOrFold<arith::CmpIOp>(
      loc, predicate, comparison.large, comparison.small);
  Value distance = builder.createOrFold<arith::SubIOp>(loc, comparison.large,
                                                       comparison.small);
  Value most = createI64(builder, loc, kMostTrips);
  Value limited = builder.createOrFold<arith::MinUIOp>(loc, distance, most);
  if (comparison.orEqual)
    limited = builder.createOrFold<arith::AddIOp>(loc, limited,
                                                  createI64(builder, loc, 1));
  Value fewest = createI64(builder, loc, least);
  Value larger = builder.createOrFold<arith::MaxSIOp>(loc, limited, fewest);
  return builder.createOrFold<arith::SelectOp>(loc, isAhead, larger, fewest);
}

/// Builds the most iterations of a loop that goes on while `condition` holds in
/// front of it; null if that does not bound them.
static Value buildMostWhile(OpBuilder &builder, scf::WhileOp loop,
                            Value condition, int64_t least) {
  std::optional<Comparison> found = getComparison(condition);
  if (!found)
    return {};
  std::optional<unsigned> up = getCounter(loop, found->small, /*grows=*/true);
  std::optional<unsigned> down =
      up ? std::nullopt : getCounter(loop, found->large, /*grows=*/false);
  if (!up && !down)
    return {};
  Value &counter = up ? found->small : found->large;
  Value &bound = up ? found->large : found->small;
  counter = loop.getInits()[up ? *up : *down];
  APInt known;
  if (matchPattern(bound, m_ConstantInt(&known))) {
    // `while True` compares with the largest number.
    if (known.sgt(kMostTrips))
      return {};
    bound = createI64(builder, loop.getLoc(), known.getSExtValue());
  } else if (loop->isAncestor(bound.getParentRegion()->getParentOp())) {
    return {};
  }
  return buildDistance(builder, loop.getLoc(), *found, least);
}

Value ssa_compiler::buildMostTrips(OpBuilder &builder, scf::WhileOp loop) {
  SmallVector<Value> conjuncts, flags;
  collectConjuncts(loop.getConditionOp().getCondition(), conjuncts);
  for (Value each : conjuncts) {
    if (Value most = buildMostWhile(builder, loop, each, /*least=*/0))
      return most;
    // A flag that says whether there is another iteration.
    if (auto flag = dyn_cast<BlockArgument>(each);
        flag && flag.getOwner() == loop.getBeforeBody())
      collectConjuncts(loop.getYieldOp().getOperand(flag.getArgNumber()),
                       flags);
  }
  for (Value each : flags)
    if (Value most = buildMostWhile(builder, loop, each, /*least=*/1))
      return most;
  return {};
}

Value ssa_compiler::buildTripCount(OpBuilder &builder, scf::ForOp loop) {
  Location loc = loop.getLoc();
  Type i64 = builder.getI64Type();
  auto toI64 = [&](Value index) {
    return builder.createOrFold<arith::IndexCastOp>(loc, i64, index);
  };
  Value low = toI64(loop.getLowerBound()), high = toI64(loop.getUpperBound());
  Value runs = builder.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::sgt, high, low);
  Value zero = createI64(builder, loc, 0);
  Value distance = builder.createOrFold<arith::SelectOp>(
      loc, runs, builder.createOrFold<arith::SubIOp>(loc, high, low), zero);
  return builder.createOrFold<arith::CeilDivUIOp>(loc, distance,
                                                  toI64(loop.getStep()));
}
