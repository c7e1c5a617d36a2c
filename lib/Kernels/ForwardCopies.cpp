//===- ForwardCopies.cpp - results where they are copied ------------------===//

#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_FORWARDCOPIESPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;

/// The buffer that a view shows a part of.
static Value findRoot(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return buffer;
}

/// Whether two buffers certainly have no memory in common: different
/// allocations, or arguments of the function, of which those that are written
/// share none with others.
static bool areSeparate(Value root, Value other) {
  auto isKnown = [](Value buffer) {
    auto argument = dyn_cast<BlockArgument>(buffer);
    return argument ? isa<func::FuncOp>(argument.getOwner()->getParentOp())
                    : isa<memref::AllocOp, memref::GetGlobalOp>(
                          buffer.getDefiningOp());
  };
  return root != other && isKnown(root) && isKnown(other);
}

/// Whether two views are of different elements.
static bool areDisjoint(Value view, Value other) {
  auto one = view.getDefiningOp<memref::SubViewOp>();
  auto two = other.getDefiningOp<memref::SubViewOp>();
  if (!one || !two || one.getSource() != two.getSource())
    return false;
  FailureOr<bool> overlap = ValueBoundsConstraintSet::areOverlappingSlices(
      view.getContext(), HyperrectangularSlice(one),
      HyperrectangularSlice(two));
  return succeeded(overlap) && !*overlap;
}

/// Whether two views are of the same elements in the same order.
static bool areSame(Value view, Value other) {
  if (view == other)
    return true;
  auto one = view.getDefiningOp<memref::SubViewOp>();
  auto two = other.getDefiningOp<memref::SubViewOp>();
  if (!one || !two || one.getSource() != two.getSource() ||
      one.getType() != two.getType())
    return false;
  FailureOr<bool> equal = ValueBoundsConstraintSet::areEquivalentSlices(
      view.getContext(), HyperrectangularSlice(one),
      HyperrectangularSlice(two));
  return succeeded(equal) && *equal;
}

namespace {
/// Tries to let the op that fills the source of a copy fill the target.
class Forwarding {
public:
  explicit Forwarding(memref::CopyOp copy)
      : copy(copy), source(copy.getSource()), target(copy.getTarget()),
        root(findRoot(target)) {}

  bool run() {
    auto made = source.getDefiningOp<memref::AllocOp>();
    if (!made || made.getType().getRank() == 0 || !findProducer() ||
        !readsNoOtherPart() || touchesTargetBetween() || !liftTarget())
      return false;
    producer.getDpsInitsMutable()[0].set(target);
    copy.erase();
    made.erase();
    return true;
  }

private:
  /// Finds the op: the only one, beside the copy, that uses the source.
  bool findProducer() {
    for (Operation *user : source.getUsers()) {
      if (user == copy)
        continue;
      auto op = dyn_cast<linalg::LinalgOp>(user);
      if (!op || producer || op->getBlock() != copy->getBlock() ||
          !op->isBeforeInBlock(copy))
        return false;
      producer = op;
    }
    if (!producer || producer.getNumDpsInits() != 1)
      return false;
    OpOperand *output = producer.getDpsInitOperand(0);
    return output->get() == source &&
           llvm::count(producer->getOperands(), source) == 1 &&
           producer.getNumParallelLoops() == producer.getNumLoops() &&
           !producer.payloadUsesValueFromOperand(output) &&
           producer.getMatchingIndexingMap(output).isPermutation();
  }

  /// Whether the op reads, of the buffer of the target, at most the elements
  /// that it overwrites in the same step.
  bool readsNoOtherPart() {
    OpOperand *output = producer.getDpsInitOperand(0);
    for (OpOperand *input : producer.getDpsInputOperands()) {
      if (!isa<MemRefType>(input->get().getType()) ||
          areSeparate(findRoot(input->get()), root) ||
          areDisjoint(input->get(), target))
        continue;
      if (!areSame(input->get(), target) ||
          producer.getMatchingIndexingMap(input) !=
              producer.getMatchingIndexingMap(output))
        return false;
    }
    return !producer
                ->walk([&](memref::LoadOp load) {
                  return areSeparate(findRoot(load.getMemRef()), root)
                             ? WalkResult::advance()
                             : WalkResult::interrupt();
                })
                .wasInterrupted();
  }

  /// Whether an op between the two may read or write the buffer of the target.
  bool touchesTargetBetween() {
    for (Operation *op = producer->getNextNode(); op != copy;
         op = op->getNextNode()) {
      if (isPure(op) || isa<memref::AllocOp>(op))
        continue;
      if (op->getNumRegions() != 0 && !isa<linalg::LinalgOp>(op))
        return true;
      if (!isa<linalg::LinalgOp, memref::CopyOp, memref::LoadOp,
               memref::StoreOp>(op))
        return true;
      auto mayTouch = [&](Value operand) {
        return isa<MemRefType>(operand.getType()) &&
               !areSeparate(findRoot(operand), root);
      };
      bool touches = op->walk([&](Operation *inner) {
                         return llvm::any_of(inner->getOperands(), mayTouch)
                                    ? WalkResult::interrupt()
                                    : WalkResult::advance();
                       }).wasInterrupted();
      if (touches)
        return true;
    }
    return false;
  }

  /// Makes the target available to the op.
  bool liftTarget() {
    DominanceInfo dominance;
    SmallVector<Operation *> views;
    for (Value value = target; !dominance.properlyDominates(value, producer);) {
      auto view = value.getDefiningOp<ViewLikeOpInterface>();
      if (!view || !isPure(view))
        return false;
      for (Value operand : view->getOperands())
        if (operand != view.getViewSource() &&
            !dominance.properlyDominates(operand, producer))
          return false;
      views.push_back(view);
      value = view.getViewSource();
    }
    for (Operation *view : llvm::reverse(views))
      view->moveBefore(producer);
    return true;
  }

  memref::CopyOp copy;
  Value source, target, root;
  linalg::LinalgOp producer;
};

struct ForwardCopiesPass
    : public ssa_compiler::impl::ForwardCopiesPassBase<ForwardCopiesPass> {
  using ForwardCopiesPassBase::ForwardCopiesPassBase;

  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp op) { copies.push_back(op); });
    for (memref::CopyOp copy : copies) {
      if (areSame(copy.getSource(), copy.getTarget()))
        copy.erase();
      else
        Forwarding(copy).run();
    }
  }
};
} // namespace
