//===- RemoveUpdate.cpp - erase tssa.update -------------------------------===//
//
// The last step of TensorSSA conversion (FuncTs, DAC'24, section 4.2.4).
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Dialect/TSSA/IR/TSSADialect.h"
#include "ssa-compiler/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_TSSAREMOVEUPDATEPASS
#include "ssa-compiler/Transforms/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

namespace {

struct TSSARemoveUpdate final
    : ssa_compiler::impl::TSSARemoveUpdatePassBase<TSSARemoveUpdate> {
  using Base::Base;

  void runOnOperation() override {
    getOperation()->walk([](tssa::UpdateOp op) { op.erase(); });
  }
};

} // namespace
