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

/// Looks through what groups the elements of a view in other dimensions.
static Value skipReshapes(Value view) {
  while (Operation *op = view.getDefiningOp()) {
    if (!isa<memref::ExpandShapeOp, memref::CollapseShapeOp>(op))
      break;
    view = op->getOperand(0);
  }
  return view;
}

/// Whether two views are of different elements.
static bool areDisjoint(Value view, Value other) {
  auto one = skipReshapes(view).getDefiningOp<memref::SubViewOp>();
  auto two = skipReshapes(other).getDefiningOp<memref::SubViewOp>();
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
  if (auto expanded = view.getDefiningOp<memref::ExpandShapeOp>())
    if (auto same = other.getDefiningOp<memref::ExpandShapeOp>())
      return expanded.getType() == same.getType() &&
             expanded.getReassociation() == same.getReassociation() &&
             expanded.getMixedOutputShape() == same.getMixedOutputShape() &&
             areSame(expanded.getSrc(), same.getSrc());
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
      : copy(copy), target(copy.getTarget()), root(findRoot(target)) {
    collapsed = copy.getSource().getDefiningOp<memref::CollapseShapeOp>();
    source = collapsed ? collapsed.getSrc() : copy.getSource();
  }

  bool run() {
    made = source.getDefiningOp<memref::AllocOp>();
    if (!made || made.getType().getRank() == 0 || !findProducer())
      return false;
    SmallVector<Operation *> views;
    if (!findViews(views))
      return false;
    Value destination = expandTarget();
    if (!destination)
      return false;
    if (!readsNoOtherPart(destination) || touchesTargetBetween()) {
      if (destination != target)
        destination.getDefiningOp()->erase();
      return false;
    }
    if (destination != target)
      views.insert(views.begin(), destination.getDefiningOp());
    for (Operation *view : llvm::reverse(views))
      view->moveBefore(producer);
    output->set(destination);
    copy.erase();
    if (collapsed)
      collapsed.erase();
    made.erase();
    return true;
  }

private:
  /// Finds the op: the only one, beside the copy, that uses the source.
  bool findProducer() {
    if (collapsed && !collapsed->hasOneUse())
      return false;
    for (Operation *user : source.getUsers()) {
      if (user == copy || user == collapsed)
        continue;
      auto op = dyn_cast<linalg::LinalgOp>(user);
      if (!op || producer || op->getBlock() != copy->getBlock() ||
          !op->isBeforeInBlock(copy))
        return false;
      producer = op;
    }
    if (!producer || llvm::count(producer->getOperands(), source) != 1 ||
        producer.getNumParallelLoops() != producer.getNumLoops())
      return false;
    for (OpOperand &init : producer.getDpsInitsMutable())
      if (init.get() == source)
        output = &init;
    return output && !producer.payloadUsesValueFromOperand(output) &&
           producer.getMatchingIndexingMap(output).isPermutation();
  }

  /// Groups the target's elements in the dimensions of the op's result.
  Value expandTarget() {
    if (!collapsed)
      return target;
    SmallVector<OpFoldResult> sizes;
    for (auto [dim, size] : llvm::enumerate(made.getType().getShape())) {
      if (ShapedType::isStatic(size)) {
        sizes.push_back(Builder(copy.getContext()).getIndexAttr(size));
        continue;
      }
      sizes.push_back(
          made.getDynamicSizes()[made.getType().getDynamicDimIndex(dim)]);
    }
    auto type = cast<MemRefType>(target.getType());
    SmallVector<ReassociationIndices> groups =
        collapsed.getReassociationIndices();
    FailureOr<MemRefType> expanded = memref::ExpandShapeOp::computeExpandedType(
        type, made.getType().getShape(), groups);
    if (failed(expanded))
      return Value();
    OpBuilder builder(copy);
    return memref::ExpandShapeOp::create(builder, copy.getLoc(), *expanded,
                                         target, groups, sizes);
  }

  /// Whether the op reads, of the buffer of the target, at most the elements
  /// that it overwrites in the same step, and writes nothing else of it.
  bool readsNoOtherPart(Value destination) {
    for (OpOperand &operand : producer->getOpOperands()) {
      if (&operand == output || !isa<MemRefType>(operand.get().getType()) ||
          areSeparate(findRoot(operand.get()), root) ||
          areDisjoint(operand.get(), destination))
        continue;
      if (!producer.isDpsInput(&operand) ||
          !areSame(operand.get(), destination) ||
          producer.getMatchingIndexingMap(&operand) !=
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

  /// Finds the views that have to be in front of the op, the last one first.
  bool findViews(SmallVectorImpl<Operation *> &views) {
    DominanceInfo dominance;
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
    return true;
  }

  memref::CopyOp copy;
  Value source, target, root;
  memref::CollapseShapeOp collapsed;
  memref::AllocOp made;
  linalg::LinalgOp producer;
  OpOperand *output = nullptr;
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
