//===- LowerTSSA.cpp - access and assign to torch ops ---------------------===//
//
// Asks the model of each view for the torch ops that read it and that rebuild
// its base. Ops that kept an operand alive (a list's elements) are plain ops
// now: values have no aliases.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Dialect/TSSA/IR/TSSADialect.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchDialect.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"
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

/// The registered op that `torch.operator "torch.aliasing.<op>"` computes: it
/// may also return an alias of an operand, which means nothing to values. Empty
/// for other ops.
std::string getAliasingOp(torch::OperatorOp op) {
  StringRef name = op.getTorchName();
  if (!name.consume_front("torch.aliasing."))
    return "";
  std::string plain = ("torch." + name).str();
  return OperationName(plain, op.getContext()).isRegistered() ? plain : "";
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
        Value value = model->buildAccess(rewriter, op->getLoc(),
                                         getView(access), access.getType());
        if (!value)
          return WalkResult::interrupt();
        rewriter.replaceOp(op, value);
      } else if (auto assign = dyn_cast<tssa::AssignOp>(op)) {
        const torch::ViewModel *model =
            torch::lookupViewModel(assign.getView());
        FailureOr<Value> value = model->buildAssign(
            rewriter, op->getLoc(), getView(assign), assign.getSource());
        if (failed(value))
          return WalkResult::interrupt();
        rewriter.replaceOp(op, *value);
      } else if (auto operatorOp = dyn_cast<torch::OperatorOp>(op)) {
        if (std::string plain = getAliasingOp(operatorOp); !plain.empty())
          rewriter.replaceOp(op, torch::createTorchOp(
                                     rewriter, op->getLoc(), plain,
                                     op->getResultTypes(), op->getOperands()));
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
