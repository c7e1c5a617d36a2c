//===- UseAssertedEqualities.cpp - one value for sizes that are equal -----===//

#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_USEASSERTEDEQUALITIESPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;

/// Collects the comparisons that hold if a condition does.
static void collectEqualities(Value condition,
                              SmallVectorImpl<arith::CmpIOp> &equalities) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    collectEqualities(both.getLhs(), equalities);
    collectEqualities(both.getRhs(), equalities);
  } else if (auto compare = condition.getDefiningOp<arith::CmpIOp>()) {
    if (compare.getPredicate() == arith::CmpIPredicate::eq)
      equalities.push_back(compare);
  }
}

namespace {
struct UseAssertedEqualitiesPass
    : public ssa_compiler::impl::UseAssertedEqualitiesPassBase<
          UseAssertedEqualitiesPass> {
  using UseAssertedEqualitiesPassBase::UseAssertedEqualitiesPassBase;

  void runOnOperation() override {
    auto &dominance = getAnalysis<DominanceInfo>();
    getOperation()->walk([&](cf::AssertOp op) {
      SmallVector<arith::CmpIOp> equalities;
      collectEqualities(op.getArg(), equalities);
      for (arith::CmpIOp equality : equalities) {
        // A constant is kept, or what was there first.
        Value kept = equality.getLhs(), other = equality.getRhs();
        Operation *made = kept.getDefiningOp();
        if (matchPattern(other, m_Constant()) ||
            (made && !matchPattern(made, m_Constant()) &&
             dominance.properlyDominates(other, made)))
          std::swap(kept, other);
        other.replaceUsesWithIf(kept, [&](OpOperand &use) {
          return dominance.properlyDominates(op, use.getOwner());
        });
      }
    });
    markAnalysesPreserved<DominanceInfo>();
  }
};
} // namespace
