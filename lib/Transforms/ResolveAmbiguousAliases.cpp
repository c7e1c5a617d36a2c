//===- ResolveAmbiguousAliases.cpp - tensors that are one of several ------===//
//
// Makes every ambiguous alias (AmbiguousAliasAnalysis.h) explicit: a tag says
// which candidate it is, reads select by the tag, and writes go to the
// candidate that the tag names. What is left are tensors with one location
// each, and merges that are snapshots.
//
//===----------------------------------------------------------------------===//

#include "AmbiguousAliasResolver.h"

#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"
#include "ssa-compiler/Dialect/TorchConversion/IR/TorchConversionDialect.h"
#include "ssa-compiler/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_TSSARESOLVEAMBIGUOUSALIASESPASS
#include "ssa-compiler/Transforms/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;
using namespace ssa_compiler::torch;

namespace {

/// A select of tensors is a branch that yields one of them.
void expandSelects(func::FuncOp function) {
  function.walk([](arith::SelectOp op) {
    if (!isa<NonValueTensorType>(op.getType()))
      return;
    OpBuilder builder(op);
    auto yield = [](Value value) {
      return [value](OpBuilder &builder, Location loc) {
        scf::YieldOp::create(builder, loc, value);
      };
    };
    auto ifOp =
        scf::IfOp::create(builder, op.getLoc(), op.getCondition(),
                          yield(op.getTrueValue()), yield(op.getFalseValue()));
    op.replaceAllUsesWith(ifOp.getResult(0));
    op.erase();
  });
}

/// A list is read where it is used: each use gets its own right before it.
void sinkLists(func::FuncOp function) {
  function.walk([](PrimListConstructOp op) {
    if (llvm::none_of(op->getOperandTypes(),
                      [](Type type) { return isa<NonValueTensorType>(type); }))
      return;
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      OpBuilder builder(use.getOwner());
      use.set(builder.clone(*op)->getResult(0));
    }
    op->erase();
  });
}

struct TSSAResolveAmbiguousAliases final
    : ssa_compiler::impl::TSSAResolveAmbiguousAliasesPassBase<
          TSSAResolveAmbiguousAliases> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !function.getBody().hasOneBlock())
      return;
    if (TensorAliasAnalysis(function).getConflicts().empty())
      return;
    expandSelects(function);
    // An ambiguous alias that cannot be described stays: the conversion rejects
    // it.
    {
      TensorAliasAnalysis aliases(function);
      AmbiguousAliasAnalysis ambiguous(aliases);
      if (failed(ambiguous.run()))
        return;
    }
    sinkLists(function);
    {
      TensorAliasAnalysis aliases(function);
      AmbiguousAliasAnalysis ambiguous(aliases);
      if (failed(ambiguous.run()))
        return;
      IRRewriter rewriter(&getContext());
      for (auto &[op, regionAliases] : sortByOp(ambiguous))
        if (failed(addTagCapacity(rewriter, op, regionAliases))) {
          op->emitError() << "unsupported: '" << op->getName()
                          << "' yields one of several tensors";
          return signalPassFailure();
        }
    }
    // The same ambiguous aliases, now with capacity for their tags.
    TensorAliasAnalysis aliases(function);
    AmbiguousAliasAnalysis ambiguous(aliases);
    if (failed(ambiguous.run()))
      return signalPassFailure();
    AmbiguousAliasResolver(function, aliases, ambiguous).run();
  }
};

} // namespace
