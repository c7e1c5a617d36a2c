//===- MarkVersions.cpp - mark the versions that have to be copied --------===//
//
// Writes on each op that takes over the memory of a version which is still
// needed why that is so (VersionUses.h). Each mark is one copy.
//
//===----------------------------------------------------------------------===//

#include "VersionUses.h"

#include "ssa-compiler/Dialect/Torch/IR/TorchDialect.h"
#include "ssa-compiler/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_TSSAMARKVERSIONSPASS
#include "ssa-compiler/Transforms/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

namespace {

struct TSSAMarkVersions final
    : ssa_compiler::impl::TSSAMarkVersionsPassBase<TSSAMarkVersions> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    Builder builder(&getContext());
    VersionUses uses(function);
    llvm::MapVector<Operation *, SmallVector<Attribute>> marks;
    for (OpOperand *takeover : uses.getTakeovers())
      if (std::optional<CopyReason> reason = uses.getCopyReason(*takeover)) {
        NamedAttribute entries[] = {
            builder.getNamedAttr("operand", builder.getI64IntegerAttr(
                                                takeover->getOperandNumber())),
            builder.getNamedAttr("reason",
                                 builder.getStringAttr(reason->describe()))};
        marks[takeover->getOwner()].push_back(
            builder.getDictionaryAttr(entries));
        ++numMarks;
      }
    for (auto &[op, reasons] : marks)
      op->setAttr("tssa.copies", builder.getArrayAttr(reasons));
  }
};

} // namespace
