//===- Rename.cpp - use the newest version of each storage ----------------===//
//
// The third step of TensorSSA conversion (FuncTs, DAC'24, section 4.2.3): a
// walk in program order that knows, for each root, the value of its newest
// version.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Dialect/TSSA/IR/TSSADialect.h"
#include "ssa-compiler/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_TSSARENAMEPASS
#include "ssa-compiler/Transforms/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

namespace {

class Renamer {
public:
  explicit Renamer(func::FuncOp function) {
    function.walk([&](tssa::UpdateOp update) {
      announced.insert({update.getValue().getDefiningOp(), update.getOld()});
    });
  }

  LogicalResult renameRegion(Region &region);

private:
  LogicalResult renameBlock(Block &block);

  /// The region ops whose results are new versions, with the roots.
  DenseSet<std::pair<Operation *, Value>> announced;

  DenseMap<Value, Value> newest;
};

LogicalResult Renamer::renameBlock(Block &block) {
  for (Operation &op : block) {
    if (auto update = dyn_cast<tssa::UpdateOp>(op)) {
      Value value = update.getValue();
      if (Value version = newest.lookup(value)) {
        update.getValueMutable().assign(version);
        value = version;
      }
      newest[update.getOld()] = value;
      continue;
    }
    for (OpOperand &operand : op.getOpOperands())
      if (Value version = newest.lookup(operand.get()))
        operand.set(version);
    for (Region &region : op.getRegions())
      if (failed(renameRegion(region)))
        return failure();
  }
  return success();
}

/// Versions made in a region end with it: block propagation has announced them
/// after the region op.
LogicalResult Renamer::renameRegion(Region &region) {
  Operation *parent = region.getParentOp();
  for (Block &block : region) {
    SmallVector<std::pair<Value, Value>> saved;
    llvm::SmallDenseSet<Value> seen;
    for (auto update : block.getOps<tssa::UpdateOp>()) {
      Value root = update.getOld();
      if (!seen.insert(root).second)
        continue;
      saved.emplace_back(root, newest.lookup(root));
      if (region.isAncestor(root.getParentRegion()) ||
          isa<func::FuncOp>(parent))
        continue;
      if (!announced.contains({parent, root}))
        return update.emitOpError()
               << "is not announced after the region op; run "
                  "--tssa-block-propagation first";
    }
    if (failed(renameBlock(block)))
      return failure();
    for (auto [root, version] : saved)
      newest[root] = version;
  }
  return success();
}

struct TSSARename final : ssa_compiler::impl::TSSARenamePassBase<TSSARename> {
  using Base::Base;

  void runOnOperation() override {
    Renamer renamer(getOperation());
    if (failed(renamer.renameRegion(getOperation().getBody())))
      signalPassFailure();
  }
};

} // namespace
