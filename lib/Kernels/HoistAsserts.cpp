//===- HoistAsserts.cpp - checks before what they guard -------------------===//
//
// Ops on tensors have no effects, so a check may stand behind the op that
// computes what is to be stored. Once such an op writes to memory, its place
// has been checked too late.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_HOISTASSERTSPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;

/// Whether an op computes a number from numbers or is the size of a tensor, at
/// no cost worth mentioning and whatever they are.
static bool isScalar(Operation *op) {
  if (isa<tensor::DimOp>(op))
    return true;
  return isPure(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperandTypes(),
                      llvm::IsaPred<IntegerType, IndexType, FloatType>);
}

namespace {
struct HoistAssertsPass
    : public ssa_compiler::impl::HoistAssertsPassBase<HoistAssertsPass> {
  using HoistAssertsPassBase::HoistAssertsPassBase;

  void runOnOperation() override {
    SmallVector<cf::AssertOp> assertions;
    getOperation()->walk([&](cf::AssertOp op) { assertions.push_back(op); });
    for (cf::AssertOp op : assertions)
      hoist(op);
  }

private:
  /// Moves an assertion up to where its condition is known, behind what has
  /// effects.
  static void hoist(cf::AssertOp assertion) {
    Block *block = assertion->getBlock();
    // The last op that has to stay in front: one that may fail or not end
    // itself, or that the condition is computed from.
    Operation *last = nullptr;
    for (Operation *op = assertion->getPrevNode(); op; op = op->getPrevNode())
      if (!isMemoryEffectFree(op) || mayNotEnd(op)) {
        last = op;
        break;
      }
    SetVector<Operation *> moved;
    SmallVector<Value> pending{assertion.getArg()};
    while (!pending.empty()) {
      Operation *op = pending.pop_back_val().getDefiningOp();
      if (!op || op->getBlock() != block || moved.contains(op) ||
          (last && !last->isBeforeInBlock(op)))
        continue;
      if (isScalar(op)) {
        moved.insert(op);
        llvm::append_range(pending, op->getOperands());
      } else {
        last = op;
      }
    }
    SmallVector<Operation *> order;
    for (Operation *op : moved)
      if (!last || last->isBeforeInBlock(op))
        order.push_back(op);
    llvm::sort(order, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    order.push_back(assertion);
    for (Operation *op : order) {
      if (last)
        op->moveAfter(last);
      else
        op->moveBefore(block, block->begin());
      last = op;
    }
  }

  static bool mayNotEnd(Operation *op) {
    return op->walk([](scf::WhileOp) { return WalkResult::interrupt(); })
        .wasInterrupted();
  }
};
} // namespace
