//===- AlignWhile.cpp - the tensors of scf.while in one order -------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "AlignWhile.h"
#include "EqualSizes.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace ssa_compiler;

static bool isTensor(Value value) { return isa<TensorType>(value.getType()); }

namespace {
/// A place for a tensor that a loop carries: an argument of the region before,
/// the operand of the condition that is in its buffer, and what the region
/// after yields for it.
struct Place {
  Value init;
  BlockArgument before;
  unsigned condition;
  Value yield;
};
} // namespace

/// Whether the k-th tensor of the condition is that of the k-th argument.
static bool isAligned(scf::WhileOp loop) {
  auto args = loop.getBeforeArguments();
  auto passed = loop.getConditionOp().getArgs();
  unsigned tensors = 0;
  for (BlockArgument arg : args)
    tensors += isTensor(arg);
  unsigned passedTensors = 0;
  for (Value value : passed)
    passedTensors += isTensor(value);
  if (tensors != passedTensors)
    return false;
  for (unsigned k = 0; k < tensors; ++k)
    if (!isTensor(args[k]) || !isTensor(passed[k]) ||
        args[k].getType() != passed[k].getType())
      return false;
  return true;
}

LogicalResult ssa_compiler::alignTensors(scf::WhileOp loop) {
  if (isAligned(loop))
    return success();
  scf::ConditionOp condition = loop.getConditionOp();
  scf::YieldOp yield = loop.getYieldOp();
  OperandRange passed = condition.getArgs();
  OpBuilder builder(loop);
  Location loc = loop.getLoc();

  // Each tensor among the arguments has a place. The condition passes it on
  // under its own number if it does at all.
  SmallVector<Place> places;
  constexpr unsigned none = -1;
  llvm::SmallBitVector placed(passed.size());
  for (BlockArgument arg : loop.getBeforeArguments()) {
    if (!isTensor(arg))
      continue;
    unsigned number = arg.getArgNumber(), found = none;
    for (unsigned k = 0; k < passed.size() && found == none; ++k)
      if (passed[k] == arg && !placed.test(k))
        found = k;
    if (found != none)
      placed.set(found);
    places.push_back(
        {loop.getInits()[number], arg, found, yield.getOperand(number)});
  }
  // What the condition passes on besides takes a place that is free, else a new
  // one, whose first contents nobody reads.
  for (unsigned k = 0; k < passed.size(); ++k) {
    if (!isTensor(passed[k]) || placed.test(k))
      continue;
    auto free = llvm::find_if(places, [&](Place &place) {
      return place.condition == none && place.before &&
             place.before.use_empty() &&
             place.init.getType() == passed[k].getType();
    });
    if (free != places.end()) {
      free->condition = k;
      continue;
    }
    FailureOr<Value> init = createOutside(loop, passed[k]);
    if (failed(init))
      return failure();
    places.push_back({*init, BlockArgument(), k, Value()});
  }

  SmallVector<Value> inits;
  SmallVector<Type> results;
  for (Place &place : places) {
    inits.push_back(place.init);
    results.push_back(place.init.getType());
  }
  for (auto [init, arg] : llvm::zip(loop.getInits(), loop.getBeforeArguments()))
    if (!isTensor(arg))
      inits.push_back(init);
  for (Value value : passed)
    if (!isTensor(value))
      results.push_back(value.getType());

  auto aligned = scf::WhileOp::create(builder, loc, results, inits,
                                      /*beforeBuilder=*/nullptr,
                                      /*afterBuilder=*/nullptr);
  Block *before = aligned.getBeforeBody(), *after = aligned.getAfterBody();
  // The arguments of the old regions, by those of the new ones.
  SmallVector<Value> oldBefore(loop.getBeforeArguments().size());
  SmallVector<Value> oldAfter(passed.size());
  SmallVector<Value> oldResults(passed.size());
  for (auto [k, place] : llvm::enumerate(places)) {
    if (place.before)
      oldBefore[place.before.getArgNumber()] = before->getArgument(k);
    if (place.condition != none) {
      oldAfter[place.condition] = after->getArgument(k);
      oldResults[place.condition] = aligned.getResult(k);
    }
  }
  unsigned next = places.size();
  for (BlockArgument arg : loop.getBeforeArguments())
    if (!isTensor(arg))
      oldBefore[arg.getArgNumber()] = before->getArgument(next++);
  next = places.size();
  for (unsigned k = 0; k < passed.size(); ++k) {
    if (isTensor(passed[k]))
      continue;
    oldAfter[k] = after->getArgument(next);
    oldResults[k] = aligned.getResult(next++);
  }

  builder.setInsertionPoint(condition);
  SmallVector<Value> newPassed;
  for (Place &place : places)
    newPassed.push_back(place.condition != none ? passed[place.condition]
                                                : Value(place.before));
  for (Value value : passed)
    if (!isTensor(value))
      newPassed.push_back(value);
  scf::ConditionOp::create(builder, condition.getLoc(),
                           condition.getCondition(), newPassed);
  condition.erase();

  builder.setInsertionPoint(yield);
  SmallVector<Value> newYields;
  for (auto [k, place] : llvm::enumerate(places))
    newYields.push_back(place.yield ? place.yield
                                    : Value(after->getArgument(k)));
  for (auto [arg, value] :
       llvm::zip(loop.getBeforeArguments(), yield.getOperands()))
    if (!isTensor(arg))
      newYields.push_back(value);
  scf::YieldOp::create(builder, yield.getLoc(), newYields);
  yield.erase();

  before->getOperations().splice(before->end(),
                                 loop.getBeforeBody()->getOperations());
  after->getOperations().splice(after->end(),
                                loop.getAfterBody()->getOperations());
  for (BlockArgument arg : loop.getBeforeArguments())
    arg.replaceAllUsesWith(oldBefore[arg.getArgNumber()]);
  for (BlockArgument arg : loop.getAfterArguments())
    arg.replaceAllUsesWith(oldAfter[arg.getArgNumber()]);
  loop.replaceAllUsesWith(oldResults);
  loop.erase();
  return success();
}
