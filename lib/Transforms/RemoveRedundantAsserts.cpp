//===- RemoveRedundantAsserts.cpp - check a condition once ----------------===//
//
// Reading and writing one slot (`b[i] = b[i] + 1`) takes two views and checks
// the index twice. After CSE both checks have one condition.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Transforms/Passes.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_REMOVEREDUNDANTASSERTSPASS
#include "ssa-compiler/Transforms/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

namespace {

struct RemoveRedundantAsserts final
    : ssa_compiler::impl::RemoveRedundantAssertsPassBase<
          RemoveRedundantAsserts> {
  using Base::Base;

  void runOnOperation() override {
    DominanceInfo &dominance = getAnalysis<DominanceInfo>();
    DenseMap<Value, SmallVector<cf::AssertOp>> kept;
    SmallVector<cf::AssertOp> redundant;
    getOperation()->walk<WalkOrder::PreOrder>([&](cf::AssertOp op) {
      SmallVector<cf::AssertOp> &earlier = kept[op.getArg()];
      if (llvm::any_of(earlier, [&](cf::AssertOp other) {
            return dominance.properlyDominates(other.getOperation(),
                                               op.getOperation());
          }))
        redundant.push_back(op);
      else
        earlier.push_back(op);
    });
    for (cf::AssertOp op : redundant)
      op.erase();
  }
};

} // namespace
