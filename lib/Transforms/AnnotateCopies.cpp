//===- AnnotateCopies.cpp - versions that have to be copied ---------------===//
//
// Writes on each op that would reuse the buffer of a version which is still
// needed why that is so (VersionUses.h). Each annotation is one copy.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Analysis/VersionUses.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchDialect.h"
#include "ssa-compiler/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_TSSAANNOTATECOPIESPASS
#include "ssa-compiler/Transforms/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

namespace {

struct TSSAAnnotateCopies final
    : ssa_compiler::impl::TSSAAnnotateCopiesPassBase<TSSAAnnotateCopies> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    Builder builder(&getContext());
    VersionUses uses(function);
    llvm::MapVector<Operation *, SmallVector<Attribute>> annotations;
    for (OpOperand *reuse : uses.getReuses())
      if (std::optional<CopyReason> reason = uses.getCopyReason(*reuse)) {
        NamedAttribute entries[] = {
            builder.getNamedAttr("operand", builder.getI64IntegerAttr(
                                                reuse->getOperandNumber())),
            builder.getNamedAttr("reason",
                                 builder.getStringAttr(reason->describe()))};
        annotations[reuse->getOwner()].push_back(
            builder.getDictionaryAttr(entries));
        ++numCopies;
      }
    for (auto &[op, reasons] : annotations)
      op->setAttr("tssa.copies", builder.getArrayAttr(reasons));
  }
};

} // namespace
