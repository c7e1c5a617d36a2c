//===- BlockPropagation.cpp - carry updates across regions ----------------===//
//
// The second step of TensorSSA conversion (FuncTs, DAC'24, section 4.2.2).
// Region ops are rebuilt from the inside out with one more result, and in loops
// one more carried value, for each storage that is updated below and lives
// outside.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Support/RegionUtils.h"

#include "ssa-compiler/Dialect/TSSA/IR/TSSADialect.h"
#include "ssa-compiler/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_TSSABLOCKPROPAGATIONPASS
#include "ssa-compiler/Transforms/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

namespace {

/// The storages, by root, that a region op updates and that outlive it.
using Roots = llvm::SetVector<Value>;

Roots collectRoots(Operation *op) {
  Roots roots;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (auto update : block.getOps<tssa::UpdateOp>())
        if (!op->isAncestor(update.getOld().getParentBlock()->getParentOp()))
          roots.insert(update.getOld());
  return roots;
}

/// Adds an argument for each root to the entry block of `region`, and updates
/// at its start that make it the root's version.
void addArguments(RewriterBase &rewriter, Location loc, Region &region,
                  ArrayRef<Value> roots) {
  Block &block = region.front();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(&block);
  for (Value root : roots) {
    BlockArgument argument = block.addArgument(root.getType(), loc);
    tssa::UpdateOp::create(rewriter, loc, argument, root);
  }
}

/// Appends the roots, which renaming replaces by their versions there, to the
/// operands of a terminator.
void yieldRoots(Operation *terminator, ArrayRef<Value> roots) {
  terminator->insertOperands(terminator->getNumOperands(), roots);
}

Operation *propagate(RewriterBase &rewriter, Operation *op,
                     ArrayRef<Value> roots) {
  rewriter.setInsertionPoint(op);
  Location loc = op->getLoc();
  if (isa<scf::IfOp>(op)) {
    for (Region &region : op->getRegions()) {
      if (region.empty()) {
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.createBlock(&region);
        scf::YieldOp::create(rewriter, loc);
      }
      yieldRoots(region.front().getTerminator(), roots);
    }
    return rebuildRegionOp(rewriter, op, {}, ValueRange(roots).getTypes());
  }
  if (isa<scf::ForOp, scf::WhileOp>(op)) {
    for (Region &region : op->getRegions()) {
      yieldRoots(region.front().getTerminator(), roots);
      addArguments(rewriter, loc, region, roots);
    }
    return rebuildRegionOp(rewriter, op, roots, ValueRange(roots).getTypes());
  }
  if (isa<scf::ExecuteRegionOp>(op) && op->getRegion(0).hasOneBlock()) {
    yieldRoots(op->getRegion(0).front().getTerminator(), roots);
    return rebuildRegionOp(rewriter, op, {}, ValueRange(roots).getTypes());
  }
  return nullptr;
}

struct TSSABlockPropagation final
    : ssa_compiler::impl::TSSABlockPropagationPassBase<TSSABlockPropagation> {
  using Base::Base;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    // Post-order: an inner op's updates are seen by the op around it.
    SmallVector<Operation *> regionOps;
    getOperation()->walk([&](RegionBranchOpInterface op) {
      regionOps.push_back(op.getOperation());
    });
    for (Operation *op : regionOps) {
      Roots roots = collectRoots(op);
      if (roots.empty())
        continue;
      unsigned numResults = op->getNumResults();
      Operation *parent = propagate(rewriter, op, roots.getArrayRef());
      if (!parent) {
        op->emitError() << "unsupported: '" << op->getName()
                        << "' around an update of a tensor";
        return signalPassFailure();
      }
      rewriter.setInsertionPointAfter(parent);
      for (auto [root, version] :
           llvm::zip_equal(roots, parent->getResults().drop_front(numResults)))
        tssa::UpdateOp::create(rewriter, parent->getLoc(), version, root);
    }
  }
};

} // namespace
