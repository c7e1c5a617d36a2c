//===- LowerTSSA.cpp - access and assign to torch ops ---------------------===//
//
// Asks the model of each view for the torch ops that read it and that rebuild
// its base.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Dialect/TSSA/IR/TSSADialect.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchDialect.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchViewOps.h"
#include "ssa-compiler/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_TSSALOWERPASS
#include "ssa-compiler/Transforms/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

namespace {

template <typename OpTy> torch::ViewInstance getView(OpTy op) {
  return {op.getView(), op.getSchemaAttr(), op.getBase(), op.getParams()};
}

struct TSSALower final : ssa_compiler::impl::TSSALowerPassBase<TSSALower> {
  using Base::Base;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    WalkResult result = getOperation()->walk([&](Operation *op) {
      rewriter.setInsertionPoint(op);
      if (auto access = dyn_cast<tssa::AccessOp>(op)) {
        const torch::ViewModel *model =
            torch::lookupViewModel(access.getView());
        rewriter.replaceOp(op, model->buildAccess(rewriter, op->getLoc(),
                                                  getView(access),
                                                  access.getType()));
      } else if (auto assign = dyn_cast<tssa::AssignOp>(op)) {
        const torch::ViewModel *model =
            torch::lookupViewModel(assign.getView());
        FailureOr<Value> value = model->buildAssign(
            rewriter, op->getLoc(), getView(assign), assign.getSource());
        if (failed(value))
          return WalkResult::interrupt();
        rewriter.replaceOp(op, *value);
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
