//===- InsertBoundsChecks.cpp - assert that views stay in range -----------===//
//
// Eager PyTorch raises when a view is taken outside of its base; IREE clamps or
// wraps. The conditions come from the models of the views.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Dialect/Torch/IR/TorchOpInterfaces.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchViewOps.h"
#include "ssa-compiler/Dialect/TorchConversion/IR/TorchConversionDialect.h"
#include "ssa-compiler/Support/SourceLocation.h"
#include "ssa-compiler/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_TORCHINSERTBOUNDSCHECKSPASS
#include "ssa-compiler/Transforms/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

namespace {

struct TorchInsertBoundsChecks final
    : ssa_compiler::impl::TorchInsertBoundsChecksPassBase<
          TorchInsertBoundsChecks> {
  using Base::Base;

  void runOnOperation() override {
    OpBuilder builder(&getContext());
    getOperation()->walk([&](torch::TorchViewOpInterface op) {
      builder.setInsertionPoint(op);
      SmallVector<torch::ViewModel::Check> checks;
      op.getViewModel()->buildChecks(builder, op.getLoc(), op.getBase(),
                                     op.getParams(), checks);
      for (torch::ViewModel::Check &check : checks)
        cf::AssertOp::create(builder, op.getLoc(), check.condition,
                             withSourceLine(check.message, op.getLoc()));
    });
  }
};

} // namespace
