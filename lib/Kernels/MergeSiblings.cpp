//===- MergeSiblings.cpp - one pass over memory for several results -------===//

#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_MERGESIBLINGSPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;

/// More operands than these want more registers than there are.
static constexpr unsigned kMostInputs = 12, kMostOutputs = 6;

static bool isElementwise(linalg::GenericOp op) {
  return op.hasPureTensorSemantics() &&
         op.getNumParallelLoops() == op.getNumLoops() &&
         llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &output) {
           return op.getMatchingIndexingMap(&output).isPermutation() &&
                  !op.payloadUsesValueFromOperand(&output);
         });
}

/// Whether two ops read one operand in the same way, each element once, and
/// certainly have the same loops.
static bool readTheSame(linalg::GenericOp op, linalg::GenericOp other) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (ranges != other.getStaticLoopRanges())
    return false;
  llvm::SmallBitVector known(ranges.size()), all(ranges.size(), true);
  for (auto [dim, range] : llvm::enumerate(ranges))
    if (ShapedType::isStatic(range))
      known.set(dim);
  bool shared = false;
  for (OpOperand *input : op.getDpsInputOperands())
    for (OpOperand *same : other.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      if (input->get() != same->get() ||
          map != other.getMatchingIndexingMap(same))
        continue;
      for (AffineExpr expr : map.getResults())
        if (auto dim = dyn_cast<AffineDimExpr>(expr))
          known.set(dim.getPosition());
      shared |= map.isPermutation();
    }
  return shared && known == all;
}

/// Whether a use of a tensor leaves its buffer as it is.
static bool onlyReads(OpOperand &use) {
  Operation *user = use.getOwner();
  if (auto op = dyn_cast<linalg::LinalgOp>(user))
    return op.isDpsInput(&use);
  return isa<tensor::DimOp, tensor::ExtractOp, tensor::ExtractSliceOp>(user);
}

/// How far apart two ops may be: what is looked at grows with it.
static constexpr unsigned kReach = 128;

static bool usesAny(Operation *op, const SmallPtrSetImpl<Operation *> &makers) {
  return op
      ->walk([&](Operation *inner) {
        return llvm::any_of(inner->getOperands(),
                            [&](Value operand) {
                              return makers.contains(operand.getDefiningOp());
                            })
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether no op of some may overwrite a buffer that an op reads: it would have
/// to be copied, if the op ran behind them.
static bool keepOperands(linalg::GenericOp op,
                         const SmallPtrSetImpl<Operation *> &between) {
  return llvm::all_of(op.getDpsInputs(), [&](Value input) {
    return llvm::all_of(input.getUses(), [&](OpOperand &use) {
      return onlyReads(use) ||
             !between.contains(
                 op->getBlock()->findAncestorOpInBlock(*use.getOwner()));
    });
  });
}

/// The next op of the block that can be merged with an op, and what has to run
/// after both: the ops in between that need the results of the first.
static std::pair<linalg::GenericOp, SmallVector<Operation *>>
findSibling(linalg::GenericOp op) {
  SmallVector<Operation *> dependent;
  SmallPtrSet<Operation *, 8> makers{op.getOperation()}, between;
  for (Operation *next = op->getNextNode(); next && between.size() < kReach;
       next = next->getNextNode()) {
    bool depends = usesAny(next, makers);
    auto other = dyn_cast<linalg::GenericOp>(next);
    if (other && !depends && isElementwise(other) && readTheSame(op, other) &&
        op.getNumDpsInputs() + other.getNumDpsInputs() <= kMostInputs &&
        op.getNumDpsInits() + other.getNumDpsInits() <= kMostOutputs &&
        keepOperands(op, between))
      return {other, dependent};
    if (depends) {
      if (!isMemoryEffectFree(next) ||
          next->hasTrait<OpTrait::IsTerminator>() ||
          (next->getNumRegions() && !isa<linalg::LinalgOp>(next)))
        break;
      makers.insert(next);
      dependent.push_back(next);
    }
    between.insert(next);
  }
  return {};
}

/// Makes one op of two, at the place of the later one.
static linalg::GenericOp merge(linalg::GenericOp op, linalg::GenericOp other) {
  OpBuilder builder(other);
  SmallVector<Value> inputs, outputs;
  SmallVector<AffineMap> inputMaps, outputMaps;
  for (linalg::GenericOp part : {op, other}) {
    for (OpOperand *input : part.getDpsInputOperands()) {
      inputs.push_back(input->get());
      inputMaps.push_back(part.getMatchingIndexingMap(input));
    }
    for (OpOperand &output : part.getDpsInitsMutable()) {
      outputs.push_back(output.get());
      outputMaps.push_back(part.getMatchingIndexingMap(&output));
    }
  }
  llvm::append_range(inputMaps, outputMaps);
  auto build = [&](OpBuilder &builder, Location loc, ValueRange arguments) {
    IRMapping mapping;
    SmallVector<Value> yielded;
    unsigned input = 0, output = inputs.size();
    for (linalg::GenericOp part : {op, other}) {
      Block *body = part.getBody();
      unsigned count = part.getNumDpsInputs();
      for (BlockArgument argument : body->getArguments())
        mapping.map(argument, argument.getArgNumber() < count
                                  ? arguments[input++]
                                  : arguments[output++]);
      for (Operation &inner : body->without_terminator())
        builder.clone(inner, mapping);
      for (Value value : body->getTerminator()->getOperands())
        yielded.push_back(mapping.lookupOrDefault(value));
    }
    linalg::YieldOp::create(builder, loc, yielded);
  };
  auto merged = linalg::GenericOp::create(
      builder,
      FusedLoc::get(builder.getContext(), {op.getLoc(), other.getLoc()}),
      TypeRange(ValueRange(outputs)), inputs, outputs, inputMaps,
      other.getIteratorTypesArray(), build);
  unsigned count = op->getNumResults();
  op->replaceAllUsesWith(merged->getResults().take_front(count));
  other->replaceAllUsesWith(merged->getResults().drop_front(count));
  return merged;
}

namespace {
struct MergeSiblingsPass
    : public ssa_compiler::impl::MergeSiblingsPassBase<MergeSiblingsPass> {
  using MergeSiblingsPassBase::MergeSiblingsPassBase;

  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (isElementwise(op))
        ops.push_back(op);
    });
    DenseSet<Operation *> merged;
    for (linalg::GenericOp op : ops) {
      if (merged.contains(op))
        continue;
      for (auto [other, dependent] = findSibling(op); other;
           std::tie(other, dependent) = findSibling(op)) {
        linalg::GenericOp both = merge(op, other);
        Operation *last = both;
        for (Operation *user : dependent) {
          user->moveAfter(last);
          last = user;
        }
        merged.insert(other);
        op.erase();
        other.erase();
        op = both;
      }
    }
  }
};
} // namespace
