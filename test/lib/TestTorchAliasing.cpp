// --test-print-torch-aliasing: says in remarks what each schema op writes, what
// its results may alias, which op is its functional form and what memory
// effects it has.

#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace ssa_compiler::torch;

namespace {

struct TestPrintTorchAliasing final
    : PassWrapper<TestPrintTorchAliasing, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestPrintTorchAliasing)

  StringRef getArgument() const override { return "test-print-torch-aliasing"; }
  StringRef getDescription() const override {
    return "prints the alias facts and memory effects of torch ops";
  }

  void runOnOperation() override {
    getOperation()->walk([](TorchSchemaOpInterface op) {
      std::string text;
      llvm::raw_string_ostream os(text);
      os << op.getTorchName() << (op.getSchema() ? "" : " (no schema)")
         << " writes:";
      for (unsigned index : op.getWrittenOperands())
        os << " " << index;
      os << "; aliases:";
      for (unsigned result = 0; result < op->getNumResults(); ++result)
        for (unsigned operand = 0; operand < op->getNumOperands(); ++operand)
          if (op.mayAlias(result, operand))
            os << " " << result << "->" << operand;
      if (std::optional<FunctionalOp> functional = op.getFunctionalOp())
        os << "; functional: " << functional->name;
      printEffects(op, os);
      op->emitRemark() << text;
    });
  }

  static void printEffects(Operation *op, raw_ostream &os) {
    auto effectOp = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effectOp)
      return;
    SmallVector<MemoryEffects::EffectInstance> effects;
    effectOp.getEffects(effects);
    os << "; effects:";
    for (const MemoryEffects::EffectInstance &effect : effects) {
      os << " "
         << (isa<MemoryEffects::Read>(effect.getEffect())       ? "read"
             : isa<MemoryEffects::Write>(effect.getEffect())    ? "write"
             : isa<MemoryEffects::Allocate>(effect.getEffect()) ? "allocate"
                                                                : "free");
      if (OpOperand *operand = effect.getEffectValue<OpOperand *>())
        os << "(operand " << operand->getOperandNumber() << ")";
      else if (effect.getEffectValue<OpResult>())
        os << "(result " << effect.getEffectValue<OpResult>().getResultNumber()
           << ")";
    }
  }
};

} // namespace

namespace ssa_compiler {
void registerTestTorchAliasingPass();
void registerTestTorchAliasingPass() {
  PassRegistration<TestPrintTorchAliasing>();
}
} // namespace ssa_compiler
