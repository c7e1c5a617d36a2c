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

namespace {

/// Numbers that a loop carries, and a constant, which are added up.
struct Counter {
  SmallVector<unsigned> numbers;
  int64_t constant = 0;
};

/// Finds by how much the sum of numbers changes in an iteration.
class Change {
public:
  explicit Change(bool grows) : sign(grows ? 1 : -1) {}

  /// The least that the sum grows, or shrinks, by on each way through branches.
  /// Each number is paired with what it was when the iteration began.
  std::optional<int64_t> measure(SmallVector<std::pair<Value, Value>> pairs);

private:
  std::optional<int64_t> measureBranch(ArrayRef<std::pair<Value, Value>> pairs,
                                       Operation *branch);

  int64_t sign;
  unsigned ways = 64; // that are looked at
};

} // namespace

/// `value` without a constant that is added to it, which is added to `sum`.
static Value skipConstants(Value value, int64_t &sum) {
  while (Operation *op = value.getDefiningOp()) {
    APInt step;
    if (!isa<arith::AddIOp, arith::SubIOp>(op) ||
        !matchPattern(op->getOperand(1), m_ConstantInt(&step)) ||
        step.abs().ugt(kMostTrips))
      break;
    sum += isa<arith::AddIOp>(op) ? step.getSExtValue() : -step.getSExtValue();
    value = op->getOperand(0);
  }
  return value;
}

std::optional<int64_t>
Change::measure(SmallVector<std::pair<Value, Value>> pairs) {
  if (ways == 0)
    return std::nullopt;
  int64_t sum = 0;
  Operation *branch = nullptr;
  for (auto &[last, first] : pairs) {
    last = skipConstants(last, sum);
    if (last == first)
      continue;
    Operation *op = last.getDefiningOp();
    if (!isa_and_nonnull<scf::IfOp, arith::SelectOp>(op))
      return std::nullopt;
    branch = op;
  }
  if (!branch) {
    --ways;
    return sign * sum;
  }
  std::optional<int64_t> least = measureBranch(pairs, branch);
  if (!least)
    return std::nullopt;
  return *least + sign * sum;
}

/// The result of a branch, or of a select, if its first or second way is taken.
static Value getAlternative(OpResult result, unsigned way) {
  if (auto branch = dyn_cast<scf::IfOp>(result.getOwner()))
    return branch->getRegion(way).front().getTerminator()->getOperand(
        result.getResultNumber());
  return result.getOwner()->getOperand(1 + way);
}

std::optional<int64_t>
Change::measureBranch(ArrayRef<std::pair<Value, Value>> pairs,
                      Operation *branch) {
  std::optional<int64_t> least;
  for (unsigned way : {0, 1}) {
    SmallVector<std::pair<Value, Value>> chosen(pairs);
    for (auto &[last, first] : chosen)
      if (last.getDefiningOp() == branch)
        last = getAlternative(cast<OpResult>(last), way);
    std::optional<int64_t> found = measure(chosen);
    if (!found)
      return std::nullopt;
    least = std::min(least.value_or(*found), *found);
  }
  return least;
}

/// Collects what is added up; fails if that is much.
static bool collectAddends(Value value, SmallVectorImpl<Value> &addends,
                           int64_t &constant) {
  value = skipConstants(value, constant);
  auto sum = value.getDefiningOp<arith::AddIOp>();
  if (!sum) {
    addends.push_back(value);
    return addends.size() <= 4;
  }
  return collectAddends(sum.getLhs(), addends, constant) &&
         collectAddends(sum.getRhs(), addends, constant);
}

/// The ints that an scf.while carries of which `value` is the sum, and that
/// grow together, or shrink, in each iteration; `value` is what it is at the
/// head, or at the end of an iteration.
static std::optional<Counter> getCounter(scf::WhileOp loop, Value value,
                                         bool grows) {
  SmallVector<Value> addends;
  Counter counter;
  if (!value.getType().isInteger(64))
    return std::nullopt;
  // At the end of an iteration the value itself may be what is carried.
  for (unsigned number = 0; number < loop.getInits().size(); ++number)
    if (loop.getYieldOp().getOperand(number) == value)
      addends = {value};
  if (addends.empty() && !collectAddends(value, addends, counter.constant))
    return std::nullopt;
  SmallVector<std::pair<Value, Value>> pairs;
  for (bool atHead : {true, false}) {
    counter.numbers.clear();
    pairs.clear();
    for (Value addend : addends) {
      ValueRange all = atHead ? ValueRange(loop.getBeforeArguments())
                              : ValueRange(loop.getYieldOp().getOperands());
      for (auto [number, carried] : llvm::enumerate(all)) {
        if (carried != addend)
          continue;
        Value head = loop.getBeforeArguments()[number];
        for (BlockArgument inside : loop.getAfterArguments())
          if (loop.getConditionOp().getArgs()[inside.getArgNumber()] == head) {
            counter.numbers.push_back(number);
            pairs.push_back({loop.getYieldOp().getOperand(number), inside});
            break;
          }
        break;
      }
    }
    if (pairs.size() != addends.size())
      continue;
    std::optional<int64_t> least = Change(grows).measure(pairs);
    if (least && *least >= 1)
      return counter;
  }
  return std::nullopt;
}

/// Builds how often a counter that grows from `comparison.small`, or shrinks
/// from `comparison.large`, can be changed while the comparison holds; at least
/// `least`.
static Value buildDistance(OpBuilder &builder, Location loc,
                           const Comparison &comparison, int64_t least,
                           int64_t limit) {
  auto predicate = comparison.orEqual ? arith::CmpIPredicate::sge
                                      : arith::CmpIPredicate::sgt;
  // The difference may not be one of 64 bits, but with a sign.
  Value isAhead = builder.createOrFold<arith::CmpIOp>(
      loc, predicate, comparison.large, comparison.small);
  Value distance = builder.createOrFold<arith::SubIOp>(loc, comparison.large,
                                                       comparison.small);
  Value most = createI64(builder, loc, limit);
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
                            Value condition, int64_t least, int64_t limit) {
  std::optional<Comparison> found = getComparison(condition);
  if (!found)
    return {};
  std::optional<Counter> up = getCounter(loop, found->small, /*grows=*/true);
  std::optional<Counter> down =
      up ? std::nullopt : getCounter(loop, found->large, /*grows=*/false);
  if (!up && !down)
    return {};
  Value &counter = up ? found->small : found->large;
  Value &bound = up ? found->large : found->small;
  Counter &sum = up ? *up : *down;
  counter = createI64(builder, loop.getLoc(), sum.constant);
  for (unsigned number : sum.numbers)
    counter = builder.createOrFold<arith::AddIOp>(loop.getLoc(), counter,
                                                  loop.getInits()[number]);
  APInt known;
  if (matchPattern(bound, m_ConstantInt(&known))) {
    // `while True` compares with the largest number.
    if (known.sgt(limit))
      return {};
    bound = createI64(builder, loop.getLoc(), known.getSExtValue());
  } else if (loop->isAncestor(bound.getParentRegion()->getParentOp())) {
    return {};
  }
  return buildDistance(builder, loop.getLoc(), *found, least, limit);
}

Value ssa_compiler::buildMostTrips(OpBuilder &builder, scf::WhileOp loop,
                                   int64_t limit) {
  SmallVector<Value> conjuncts, flags;
  collectConjuncts(loop.getConditionOp().getCondition(), conjuncts);
  for (Value each : conjuncts) {
    if (Value most = buildMostWhile(builder, loop, each, /*least=*/0, limit))
      return most;
    // A flag that says whether there is another iteration.
    if (auto flag = dyn_cast<BlockArgument>(each);
        flag && flag.getOwner() == loop.getBeforeBody())
      collectConjuncts(loop.getYieldOp().getOperand(flag.getArgNumber()),
                       flags);
  }
  for (Value each : flags)
    if (Value most = buildMostWhile(builder, loop, each, /*least=*/1, limit))
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
