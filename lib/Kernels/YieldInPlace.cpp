//===- YieldInPlace.cpp - what loops and branches yield, in their buffers -===//
//
// One-Shot Bufferize decides what is in place and refuses a loop that yields a
// tensor in another buffer than that of the loop's argument. This pass asks its
// analysis, inserts the copies that are missing, and asks again. Where the
// analysis already agrees a copy would be wrong (it could not be in place), so
// none is inserted before it has been asked.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_YIELDINPLACEPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;
using bufferization::OneShotAnalysisState;

static bool isTensor(Value value) { return isa<TensorType>(value.getType()); }

//===----------------------------------------------------------------------===//
// scf.while: tensors first, in one order
//===----------------------------------------------------------------------===//

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

/// Rewrites a loop so that its tensors come first and the k-th operand of the
/// condition takes the place of the k-th argument.
static void align(scf::WhileOp loop) {
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
    auto type = cast<RankedTensorType>(passed[k].getType());
    Value init = bufferization::AllocTensorOp::create(builder, loc, type,
                                                      /*dynamicSizes=*/{});
    places.push_back({init, BlockArgument(), k, Value()});
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
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Copies the operands of a terminator that are not in the buffers of
/// `destinations` into them; returns whether there were such.
static bool copyInto(Operation *terminator, unsigned first,
                     ValueRange destinations,
                     const OneShotAnalysisState &state) {
  SmallVector<unsigned> missing;
  for (auto [k, destination] : llvm::enumerate(destinations)) {
    Value value = terminator->getOperand(first + k);
    if (isTensor(value) &&
        !state.areEquivalentBufferizedValues(value, destination))
      missing.push_back(k);
  }
  OpBuilder builder(terminator);
  Location loc = terminator->getLoc();
  // Copied into a temporary first: what may lie in a buffer that is overwritten
  // for another one.
  for (unsigned k : missing) {
    OpOperand &operand = terminator->getOpOperand(first + k);
    bool shared = llvm::any_of(missing, [&](unsigned other) {
      return other != k && state.areAliasingBufferizedValues(
                               operand.get(), destinations[other]);
    });
    if (!shared)
      continue;
    operand.set(bufferization::AllocTensorOp::create(
        builder, loc, cast<RankedTensorType>(operand.get().getType()),
        /*dynamicSizes=*/ValueRange(), operand.get()));
  }
  for (unsigned k : missing) {
    OpOperand &operand = terminator->getOpOperand(first + k);
    auto copy = bufferization::MaterializeInDestinationOp::create(
        builder, loc, operand.get().getType(), operand.get(), destinations[k]);
    operand.set(copy.getResult());
  }
  return !missing.empty();
}

/// Gives the results of a branch whose arms end in different buffers one
/// buffer; returns whether there were such.
static bool joinArms(scf::IfOp branch, const OneShotAnalysisState &state) {
  bool changed = false;
  for (unsigned k = 0; k < branch.getNumResults(); ++k) {
    OpOperand &one = branch.thenYield()->getOpOperand(k);
    OpOperand &other = branch.elseYield()->getOpOperand(k);
    if (!isTensor(one.get()) ||
        state.areEquivalentBufferizedValues(one.get(), other.get()))
      continue;
    OpBuilder builder(branch);
    Value place = bufferization::AllocTensorOp::create(
        builder, branch.getLoc(), cast<RankedTensorType>(one.get().getType()),
        /*dynamicSizes=*/ValueRange());
    for (OpOperand *operand : {&one, &other}) {
      builder.setInsertionPoint(operand->getOwner());
      auto copy = bufferization::MaterializeInDestinationOp::create(
          builder, branch.getLoc(), place.getType(), operand->get(), place);
      operand->set(copy.getResult());
    }
    changed = true;
  }
  return changed;
}

/// Inserts what is missing in the innermost loop or branch that lacks
/// something; returns whether there is one.
static bool insertCopies(ModuleOp module, const OneShotAnalysisState &state) {
  WalkResult result = module.walk([&](Operation *op) {
    bool changed = false;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      changed = copyInto(loop.getBody()->getTerminator(), 0,
                         loop.getRegionIterArgs(), state);
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      unsigned tensors = llvm::count_if(loop.getBeforeArguments(), isTensor);
      changed = copyInto(loop.getConditionOp(), 1,
                         loop.getBeforeArguments().take_front(tensors), state);
      changed |= copyInto(loop.getYieldOp(), 0,
                          loop.getAfterArguments().take_front(tensors), state);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      changed = joinArms(branch, state);
    }
    return changed ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

namespace {
struct YieldInPlacePass
    : public ssa_compiler::impl::YieldInPlacePassBase<YieldInPlacePass> {
  using YieldInPlacePassBase::YieldInPlacePassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<scf::WhileOp> loops;
    unsigned yields = 1;
    module.walk([&](Operation *op) {
      if (auto loop = dyn_cast<scf::WhileOp>(op))
        loops.push_back(loop);
      if (isa<scf::WhileOp, scf::ForOp, scf::IfOp>(op))
        yields += 1;
    });
    for (scf::WhileOp loop : loops)
      if (!isAligned(loop))
        align(loop);

    bufferization::OneShotBufferizationOptions options =
        getKernelBufferization();
    options.allowReturnAllocsFromLoops = true; // they are what is sought
    // A copy may move the analysis to decide otherwise elsewhere; few rounds
    // for each loop are enough unless it goes to and fro.
    for (unsigned round = 0; round < 4 * yields; ++round) {
      OneShotAnalysisState state(module, options);
      if (failed(bufferization::analyzeModuleOp(module, state)))
        return signalPassFailure();
      if (!insertCopies(module, state))
        return;
    }
    module.emitError("unsupported: what loops yield cannot be kept in place");
    signalPassFailure();
  }
};
} // namespace
