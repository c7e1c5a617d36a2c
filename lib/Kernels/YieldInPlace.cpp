//===- YieldInPlace.cpp - what loops and branches yield, in their buffers -===//
//
// One-Shot Bufferize decides what is in place and rejects a loop that yields a
// tensor in another buffer than that of the loop's argument. This pass asks its
// analysis, inserts the copies that are missing, and asks again. Where the
// analysis already agrees a copy would be wrong (it could not be in place), so
// none is inserted before it has been asked.
//
//===----------------------------------------------------------------------===//

#include "AlignWhile.h"
#include "EqualSizes.h"
#include "Roles.h"
#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_YIELDINPLACEPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;
using bufferization::OneShotAnalysisState;

static bool isTensor(Value value) { return isa<TensorType>(value.getType()); }

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

namespace {
/// An operand of a terminator, and the tensor in whose buffer it is to be.
struct Destination {
  OpOperand *operand;
  Value tensor;
};
} // namespace

/// The tensors among the operands of a terminator, from the `first` on, with
/// the arguments of the loop that they become.
static SmallVector<Destination> pairUp(Operation *terminator, unsigned first,
                                       ValueRange arguments) {
  SmallVector<Destination> pairs;
  for (auto [k, argument] : llvm::enumerate(arguments))
    if (isTensor(argument))
      pairs.push_back({&terminator->getOpOperand(first + k), argument});
  return pairs;
}

/// Copies a tensor to a temporary.
static void copyAside(OpOperand &operand) {
  OpBuilder builder(operand.getOwner());
  operand.set(bufferization::AllocTensorOp::create(
      builder, operand.getOwner()->getLoc(),
      cast<RankedTensorType>(operand.get().getType()),
      /*dynamicSizes=*/ValueRange(), operand.get()));
}

/// Copies the operands of a terminator that are not in the buffers they are to
/// be in into them; returns whether there were such.
static FailureOr<bool> copyInto(Operation *terminator,
                                ArrayRef<Destination> destinations,
                                const OneShotAnalysisState &state) {
  SmallVector<Destination> missing;
  for (Destination pair : destinations) {
    if (state.areEquivalentBufferizedValues(pair.operand->get(), pair.tensor))
      continue;
    if (!haveSameSizes(pair.operand->get(), pair.tensor, terminator))
      return terminator->emitError(
          "unsupported: a tensor that may change its size in a loop");
    missing.push_back(pair);
  }
  // What may lie in a buffer that is overwritten for another operand comes
  // first.
  bool returns = isa<func::ReturnOp>(terminator);
  for (OpOperand &operand : terminator->getOpOperands()) {
    auto overwrites = [&](const Destination &other) {
      if (other.operand == &operand ||
          (returns && other.operand->get() == operand.get()))
        return false;
      return state.areAliasingBufferizedValues(operand.get(), other.tensor);
    };
    if (isTensor(operand.get()) && llvm::any_of(missing, overwrites))
      copyAside(operand);
  }
  OpBuilder builder(terminator);
  for (Destination pair : missing) {
    Value value = pair.operand->get();
    auto copy = bufferization::MaterializeInDestinationOp::create(
        builder, terminator->getLoc(), value.getType(), value, pair.tensor);
    pair.operand->set(copy.getResult());
    // A result that is the argument, too.
    for (OpOperand &operand : terminator->getOpOperands())
      if (returns && operand.get() == value)
        operand.set(copy.getResult());
  }
  return !missing.empty();
}

/// The results of a function that are new contents of arguments.
static SmallVector<Destination> findWritten(func::ReturnOp yielded) {
  auto function = yielded->getParentOfType<func::FuncOp>();
  SmallVector<Destination> pairs;
  for (OpOperand &operand : yielded->getOpOperands())
    if (auto k = getWrittenArgument(function, operand.getOperandNumber()))
      pairs.push_back({&operand, function.getArgument(*k)});
  return pairs;
}

namespace {
/// The insertions with which an arm of a branch was to end in a tensor from
/// outside.
using Trials = llvm::SmallDenseMap<std::pair<Operation *, unsigned>,
                                   tensor::InsertSliceOp>;
} // namespace

/// Writes the tensor that an arm yields into another one, in place if that is
/// no longer needed.
static tensor::InsertSliceOp insertInto(OpOperand &yielded, Value tensor) {
  OpBuilder builder(yielded.getOwner());
  Location loc = yielded.getOwner()->getLoc();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, yielded.get());
  SmallVector<OpFoldResult> zeros(sizes.size(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> ones(sizes.size(), builder.getIndexAttr(1));
  auto insertion = tensor::InsertSliceOp::create(builder, loc, yielded.get(),
                                                 tensor, zeros, sizes, ones);
  yielded.set(insertion);
  return insertion;
}

/// Whether a tensor may lie in a buffer that has to be overwritten: of an
/// argument that the function updates, or that a loop carries.
static bool mayBeOverwritten(OpOperand &operand,
                             const OneShotAnalysisState &state) {
  if (operand.get().getDefiningOp<bufferization::AllocTensorOp>())
    return false; // aliases are of all that meets somewhere
  auto overlaps = [&](BlockArgument argument) {
    return isTensor(argument) &&
           state.areAliasingBufferizedValues(operand.get(), argument);
  };
  Operation *owner = operand.getOwner();
  for (auto loop = owner->getParentOfType<LoopLikeOpInterface>(); loop;
       loop = loop->getParentOfType<LoopLikeOpInterface>())
    for (Region *region : loop.getLoopRegions())
      if (llvm::any_of(region->getArguments(), overlaps))
        return true;
  auto function = owner->getParentOfType<func::FuncOp>();
  return llvm::any_of(function.getArguments(), [&](BlockArgument argument) {
    return getRole(function, argument.getArgNumber()) == "written" &&
           overlaps(argument);
  });
}

/// What the other arms of the branches around one yield where one arm yields
/// its result as it is, from the inside out, as far as all have one size. All
/// of it ends in one buffer: a result that is another tensor's buffer in one
/// arm is in the analysis an alias of both, so nothing could be copied there.
static SmallVector<OpOperand *> findOtherArms(scf::IfOp &branch, unsigned k,
                                              Value tensor) {
  SmallVector<OpOperand *> others;
  while (auto around = dyn_cast<scf::IfOp>(branch->getParentOp())) {
    Operation *yield = branch->getBlock()->getTerminator();
    OpOperand *passed =
        llvm::find_if(yield->getOpOperands(),
                      [&, result = branch.getResult(k)](OpOperand &o) {
                        return o.get() == result;
                      });
    if (passed == yield->getOpOperands().end())
      break;
    k = passed->getOperandNumber();
    bool isThen = around.thenYield() == yield;
    scf::YieldOp opposite = isThen ? around.elseYield() : around.thenYield();
    OpOperand &other = opposite->getOpOperand(k);
    if (!haveSameSizes(tensor, other.get(), opposite))
      break;
    others.push_back(&other);
    branch = around;
  }
  return others;
}

/// Gives the results of a branch whose arms end in different buffers of one
/// size one buffer: that of a tensor from outside, if one arm leaves it as it
/// is and the analysis lets the other one write there, else a new one. Returns
/// whether there were such.
static FailureOr<bool>
joinArms(scf::IfOp branch, const OneShotAnalysisState &state, Trials &trials) {
  bool changed = false;
  for (unsigned k = 0; k < branch.getNumResults(); ++k) {
    OpOperand *one = &branch.thenYield()->getOpOperand(k);
    OpOperand *other = &branch.elseYield()->getOpOperand(k);
    if (!isTensor(one->get()) ||
        state.areEquivalentBufferizedValues(one->get(), other->get()))
      continue;
    auto isOutside = [&](OpOperand *operand) {
      return !branch->isAncestor(
          operand->get().getParentBlock()->getParentOp());
    };
    if (!isOutside(one))
      std::swap(one, other);
    // Of different sizes, each arm ends in a buffer of its own.
    if (!haveSameSizes(one->get(), other->get(), other->getOwner())) {
      for (OpOperand *operand : {one, other}) {
        if (!mayBeOverwritten(*operand, state))
          continue;
        copyAside(*operand);
        changed = true;
      }
      continue;
    }
    changed = true;
    auto [trial, isNew] = trials.try_emplace({branch, k});
    if (isNew && isOutside(one)) {
      trial->second = insertInto(*other, one->get());
      continue;
    }
    if (tensor::InsertSliceOp insertion = trial->second) {
      insertion.replaceAllUsesWith(insertion.getSource());
      insertion.erase();
      trial->second = {};
    }
    scf::IfOp outermost = branch;
    SmallVector<OpOperand *> ends = findOtherArms(outermost, k, one->get());
    ends.append({one, other});
    FailureOr<Value> place = createOutside(outermost, one->get());
    if (failed(place))
      return failure();
    for (OpOperand *operand : ends) {
      OpBuilder builder(operand->getOwner());
      auto copy = bufferization::MaterializeInDestinationOp::create(
          builder, branch.getLoc(), place->getType(), operand->get(), *place);
      operand->set(copy.getResult());
    }
  }
  return changed;
}

/// Inserts what is missing in the innermost loop or branch that lacks
/// something; returns whether there is one.
static FailureOr<bool> insertCopies(ModuleOp module,
                                    const OneShotAnalysisState &state,
                                    Trials &trials) {
  FailureOr<bool> changed = false;
  module.walk([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      Operation *yield = loop.getBody()->getTerminator();
      changed =
          copyInto(yield, pairUp(yield, 0, loop.getRegionIterArgs()), state);
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      unsigned tensors = llvm::count_if(loop.getBeforeArguments(), isTensor);
      changed = copyInto(loop.getConditionOp(),
                         pairUp(loop.getConditionOp(), 1,
                                loop.getBeforeArguments().take_front(tensors)),
                         state);
      if (failed(changed) || *changed)
        return WalkResult::interrupt();
      changed = copyInto(loop.getYieldOp(),
                         pairUp(loop.getYieldOp(), 0,
                                loop.getAfterArguments().take_front(tensors)),
                         state);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      changed = joinArms(branch, state, trials);
    } else if (isa<arith::SelectOp>(op) && isTensor(op->getResult(0))) {
      for (OpOperand &operand : op->getOpOperands().drop_front()) {
        if (!mayBeOverwritten(operand, state))
          continue;
        copyAside(operand);
        changed = true;
      }
    } else if (auto yielded = dyn_cast<func::ReturnOp>(op)) {
      changed = copyInto(yielded, findWritten(yielded), state);
    }
    return failed(changed) || *changed ? WalkResult::interrupt()
                                       : WalkResult::advance();
  });
  return changed;
}

/// Gives each loop that begins with an empty tensor, or a view of one, a tensor
/// of its own. One-Shot Bufferize's analysis sees no conflict between two
/// carried tensors that begin as the same tensor if that has no contents, and
/// puts both into one buffer; CSE makes one of two.
static void separateEmptyTensors(ModuleOp module) {
  SetVector<Operation *> made;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isView = isa<tensor::CastOp, tensor::CollapseShapeOp,
                      tensor::ExpandShapeOp, tensor::ExtractSliceOp>(op);
    if (isa<tensor::EmptyOp>(op) ||
        (isView && made.contains(op->getOperand(0).getDefiningOp())))
      made.insert(op);
  });
  // Views first: those of loops take what they are views of for themselves.
  SmallPtrSet<Operation *, 8> ofLoops;
  for (Operation *op : llvm::reverse(made)) {
    OpBuilder builder(op);
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      Operation *owner = use.getOwner();
      if (!isa<LoopLikeOpInterface>(owner) && !ofLoops.contains(owner))
        continue;
      Operation *own = builder.clone(*op);
      use.set(own->getResult(0));
      ofLoops.insert(own);
    }
    if (op->use_empty())
      op->erase();
  }
}

/// Whether the result of a loop is to be in the buffer of a tensor: one that a
/// loop around carries, or an argument that the function updates.
static bool endsIn(OpResult result, Value tensor) {
  return llvm::any_of(result.getUses(), [&](OpOperand &use) {
    if (auto returned = dyn_cast<func::ReturnOp>(use.getOwner()))
      return llvm::any_of(findWritten(returned), [&](const Destination &pair) {
        return pair.operand == &use && pair.tensor == tensor;
      });
    auto around = dyn_cast<scf::ForOp>(use.getOwner()->getParentOp());
    return around && isa<scf::YieldOp>(use.getOwner()) &&
           around.getRegionIterArg(use.getOperandNumber()) == tensor;
  });
}

/// Gives the tensors that a loop carries, and that begin as one tensor, copies
/// of it: all but one, which the analysis may let begin in its buffer. That is
/// the one that is to end there, if there is such a one; the analysis would not
/// know.
static void separateEqualStarts(ModuleOp module) {
  module.walk([](LoopLikeOpInterface loop) {
    llvm::MapVector<Value, SmallVector<OpOperand *>> starts;
    for (OpOperand &init : loop.getInitsMutable())
      if (isTensor(init.get()))
        starts[init.get()].push_back(&init);
    for (auto &[tensor, inits] : starts) {
      OpOperand **kept = llvm::find_if(inits, [&](OpOperand *init) {
        OpResult result = loop.getTiedLoopResult(init);
        return result && endsIn(result, tensor);
      });
      OpOperand *first = kept == inits.end() ? inits.front() : *kept;
      for (OpOperand *init : inits)
        if (init != first)
          copyAside(*init);
    }
  });
}

namespace {
struct YieldInPlacePass
    : public ssa_compiler::impl::YieldInPlacePassBase<YieldInPlacePass> {
  using YieldInPlacePassBase::YieldInPlacePassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    separateEmptyTensors(module);
    SmallVector<scf::WhileOp> loops;
    unsigned yields = 1;
    module.walk([&](Operation *op) {
      if (auto loop = dyn_cast<scf::WhileOp>(op))
        loops.push_back(loop);
      if (isa<scf::WhileOp, scf::ForOp, scf::IfOp>(op))
        yields += 1;
    });
    for (scf::WhileOp loop : loops)
      if (failed(alignTensors(loop)))
        return signalPassFailure();
    separateEqualStarts(module);

    bufferization::OneShotBufferizationOptions options =
        getKernelBufferization();
    options.allowReturnAllocsFromLoops = true; // they are what is sought
    // A copy may move the analysis to decide otherwise elsewhere; few rounds
    // for each loop are enough unless it goes to and fro.
    Trials trials;
    for (unsigned round = 0; round < 4 * yields; ++round) {
      OneShotAnalysisState state(module, options);
      if (failed(bufferization::analyzeModuleOp(module, state)))
        return signalPassFailure();
      FailureOr<bool> changed = insertCopies(module, state, trials);
      if (failed(changed))
        return signalPassFailure();
      if (!*changed)
        return;
    }
    module.emitError("unsupported: what loops yield cannot be kept in place");
    signalPassFailure();
  }
};
} // namespace
