//===- PromoteSlots.cpp - carry slots instead of tensors ------------------===//
//
// Scalar replacement for tensors that a loop carries: if the loop body touches
// a carried tensor only through slots known at compile time, the slots are
// carried.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Dialect/TSSA/IR/TSSADialect.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchViewOps.h"
#include "ssa-compiler/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_TSSAPROMOTESLOTSPASS
#include "ssa-compiler/Transforms/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

namespace {

/// A view of the carried tensor with constant operands.
struct Slot {
  StringAttr view;
  StringAttr schema;
  SmallVector<Value> params;
  Type type;

  torch::ViewInstance on(Value base) const {
    return {view.getValue(), schema, base, params};
  }
};

/// Loops with more slots than this would carry too many values.
constexpr size_t kMaxSlots = 64;

/// The slots through which a loop touches one carried tensor.
class SlotSet {
public:
  explicit SlotSet(BlockArgument tensor) : tensor(tensor) {}

  /// Finds the slots; fails if the tensor has any other use than access, assign
  /// and being yielded as itself.
  LogicalResult collect(OpOperand &yielded);

  ArrayRef<Slot> getSlots() const { return slots; }

  /// The index of the slot that an access or assign of a tensor version names.
  template <typename OpTy> unsigned indexOf(OpTy op) const {
    const auto *it = llvm::find_if(slots, [&](const Slot &slot) {
      return slot.view == op.getViewAttr() &&
             ValueRange(slot.params) == op.getParams();
    });
    assert(it != slots.end() && "expected a collected slot");
    return std::distance(slots.begin(), it);
  }

private:
  template <typename OpTy> LogicalResult addSlot(OpTy op, Type type);

  BlockArgument tensor;
  SmallVector<Slot> slots;
};

/// True if the view can be taken of any tensor of the base's type. It will be
/// taken before the loop, which may not have run an iteration.
static bool alwaysExists(const torch::ViewInstance &view) {
  if (!cast<torch::ValueTensorType>(view.base.getType()).hasSizes())
    return false;
  // The checks are built to see whether there are any.
  Block scratch;
  OpBuilder builder(view.base.getContext());
  builder.setInsertionPointToEnd(&scratch);
  SmallVector<torch::ViewModel::Check> checks;
  torch::lookupViewModel(view.name)->buildChecks(
      builder, view.base.getLoc(), view.base, view.params, checks);
  return checks.empty();
}

template <typename OpTy> LogicalResult SlotSet::addSlot(OpTy op, Type type) {
  for (Value param : op.getParams())
    if (!matchPattern(param, m_Constant()))
      return failure();
  Slot added{op.getViewAttr(), op.getSchemaAttr(),
             llvm::to_vector(op.getParams()), type};
  if (!alwaysExists(added.on(tensor)))
    return failure();
  for (const Slot &slot : slots) {
    if (slot.view != added.view)
      return failure();
    if (slot.params == added.params)
      return success(slot.type == type);
    const torch::ViewModel *model =
        torch::lookupViewModel(added.view.getValue());
    if (!model->areDisjoint(slot.on(tensor), added.on(tensor)))
      return failure();
  }
  slots.push_back(std::move(added));
  return success(slots.size() <= kMaxSlots);
}

LogicalResult SlotSet::collect(OpOperand &yielded) {
  llvm::SetVector<Value> versions;
  versions.insert(tensor);
  // In program order, so that slots are carried in the order of their first
  // use.
  WalkResult result =
      tensor.getOwner()->walk<WalkOrder::PreOrder>([&](Operation *op) {
        LogicalResult added = success();
        if (auto access = dyn_cast<tssa::AccessOp>(op)) {
          if (versions.contains(access.getBase()))
            added = addSlot(access, access.getType());
        } else if (auto assign = dyn_cast<tssa::AssignOp>(op);
                   assign && versions.contains(assign.getBase()) &&
                   op->getBlock() == tensor.getOwner()) {
          added = addSlot(assign, assign.getSource().getType());
          versions.insert(assign);
        }
        return failed(added) ? WalkResult::interrupt() : WalkResult::advance();
      });
  // Another tensor may be forwarded, a view of this one for instance.
  if (result.wasInterrupted() || slots.empty() ||
      !versions.contains(yielded.get()))
    return failure();
  for (Value version : versions)
    for (OpOperand &use : version.getUses()) {
      auto assign = dyn_cast<tssa::AssignOp>(use.getOwner());
      bool isBase = assign && &use == &assign.getBaseMutable() &&
                    versions.contains(assign);
      if (!isBase && !isa<tssa::AccessOp>(use.getOwner()) && &use != &yielded)
        return failure();
    }
  return success();
}

/// The contents of the slots in one version of the tensor.
using SlotValues = SmallVector<Value>;

/// Replaces the accesses of all versions of the tensor by the contents of their
/// slots and returns the slots of the version that the loop yields. In program
/// order, so that what an assign stores has been replaced before.
SlotValues forwardSlots(const SlotSet &slots, Value tensor, SlotValues values,
                        OpOperand &yielded) {
  DenseMap<Value, SlotValues> versions;
  versions[tensor] = std::move(values);
  tensor.getParentBlock()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto access = dyn_cast<tssa::AccessOp>(op)) {
      auto it = versions.find(access.getBase());
      if (it != versions.end())
        access.replaceAllUsesWith(it->second[slots.indexOf(access)]);
    } else if (auto assign = dyn_cast<tssa::AssignOp>(op)) {
      auto it = versions.find(assign.getBase());
      if (it == versions.end())
        return;
      SlotValues next = it->second;
      next[slots.indexOf(assign)] = assign.getSource();
      versions[assign] = std::move(next);
    }
  });
  return versions.lookup(yielded.get());
}

/// Promotes the slots of the carried value `index`; returns how many there are.
unsigned promote(IRRewriter &rewriter, scf::ForOp &loop, unsigned index) {
  BlockArgument tensor = loop.getRegionIterArg(index);
  if (!tssa::isValueTensor(tensor.getType()))
    return 0;
  OpOperand &yielded = loop.getBody()->getTerminator()->getOpOperand(index);
  SlotSet slots(tensor);
  if (yielded.get() == tensor || failed(slots.collect(yielded)))
    return 0;

  Value init = loop.getInitArgs()[index];
  rewriter.setInsertionPoint(loop);
  // The constants may lie in the loop.
  SmallVector<Slot> outside(slots.getSlots());
  for (Slot &slot : outside)
    for (Value &param : slot.params)
      if (loop->isAncestor(param.getParentBlock()->getParentOp()))
        param = rewriter.clone(*param.getDefiningOp())->getResult(0);
  SmallVector<Value> inits;
  for (const Slot &slot : outside)
    inits.push_back(tssa::AccessOp::create(rewriter, loop.getLoc(), slot.type,
                                           slot.view, init, slot.params,
                                           slot.schema));
  unsigned firstSlot = loop.getNumResults();
  auto yieldSlots = [&](OpBuilder &, Location,
                        ArrayRef<BlockArgument> arguments) {
    // The values to yield are known once accesses have been replaced.
    return SmallVector<Value>(arguments.begin(), arguments.end());
  };
  auto newLoop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, inits,
      /*replaceInitOperandUsesInLoop=*/false, yieldSlots));
  tensor = newLoop.getRegionIterArg(index);
  Operation *terminator = newLoop.getBody()->getTerminator();
  SlotValues arguments;
  for (unsigned slot = 0; slot < outside.size(); ++slot)
    arguments.push_back(newLoop.getRegionIterArg(firstSlot + slot));
  SlotValues finals =
      forwardSlots(slots, tensor, arguments, terminator->getOpOperand(index));
  for (auto [slot, value] : llvm::enumerate(finals))
    terminator->setOperand(firstSlot + slot, value);
  terminator->setOperand(index, tensor);

  rewriter.setInsertionPointAfter(newLoop);
  Value rebuilt = init;
  for (auto [slot, value] : llvm::enumerate(outside))
    rebuilt = tssa::AssignOp::create(
        rewriter, newLoop.getLoc(), init.getType(), value.view, rebuilt,
        newLoop.getResult(firstSlot + slot), value.params, value.schema);
  rewriter.replaceAllUsesWith(newLoop.getResult(index), rebuilt);
  loop = newLoop;
  return outside.size();
}

struct TSSAPromoteSlots final
    : ssa_compiler::impl::TSSAPromoteSlotsPassBase<TSSAPromoteSlots> {
  using Base::Base;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      for (unsigned index = 0, end = loop.getNumResults(); index < end; ++index)
        numPromoted += promote(rewriter, loop, index);
  }
};

} // namespace
