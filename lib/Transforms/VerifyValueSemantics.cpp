//===- VerifyValueSemantics.cpp - nothing mutable is left -----------------===//
//
// The contract between TensorSSA conversion and what comes after it.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Dialect/TSSA/IR/TSSADialect.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOpInterfaces.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"
#include "ssa-compiler/Transforms/Passes.h"

#include "mlir/IR/BuiltinOps.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_VERIFYVALUESEMANTICSPASS
#include "ssa-compiler/Transforms/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

namespace {

struct VerifyValueSemantics final
    : ssa_compiler::impl::VerifyValueSemanticsPassBase<VerifyValueSemantics> {
  using Base::Base;

  void runOnOperation() override {
    bool failed = false;
    auto checkType = [&](Type type, Location loc) {
      bool isMutable = false;
      type.walk([&](torch::NonValueTensorType) { isMutable = true; });
      if (!isMutable)
        return;
      emitError(loc) << "mutable tensor of type " << type
                     << " is left after TensorSSA conversion";
      failed = true;
    };
    getOperation()->walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        checkType(type, op->getLoc());
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            checkType(argument.getType(), argument.getLoc());
      if (isa_and_nonnull<tssa::TSSADialect>(op->getDialect())) {
        op->emitOpError() << "is left after TensorSSA conversion";
        failed = true;
      }
      auto schemaOp = dyn_cast<torch::TorchSchemaOpInterface>(op);
      if (schemaOp && schemaOp.getSchema() &&
          !schemaOp.getWrittenOperands().empty()) {
        op->emitError() << "'" << schemaOp.getTorchName()
                        << "' writes an operand after TensorSSA conversion";
        failed = true;
      }
    });
    if (failed)
      signalPassFailure();
  }
};

} // namespace
