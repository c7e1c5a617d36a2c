// Interfaces through which passes ask torch ops what they write, what they alias, and how a view is read and written.

#ifndef SSA_COMPILER_DIALECT_TORCH_IR_TORCHOPINTERFACES_TD
#define SSA_COMPILER_DIALECT_TORCH_IR_TORCHOPINTERFACES_TD

include "mlir/IR/OpBase.td"

def TorchSchemaOpInterface : OpInterface<"TorchSchemaOpInterface"> {
  let cppNamespace = "::ssa_compiler::torch";
  let description = [{
    An op that a PyTorch schema describes: operand i is argument i, result j is return j. Implemented by every op of
    GeneratedTorchOps.inc and by `torch.operator`. An op without a known schema may read, write and alias everything.
  }];
  let methods = [
    InterfaceMethod<[{
      The schema, owned by the dialect or the process and valid as long as the context; null if it is not known.
    }], "const ::ssa_compiler::torch::Schema *", "getSchema", (ins)>,
    InterfaceMethod<[{
      The name that the op has, or would have if it were registered: `torch.aten.add.Tensor`, also where it is carried
      by `torch.operator "torch.aten.add.Tensor"` or `torch.operator "aten.add.Tensor"`.
    }], "::llvm::StringRef", "getTorchName", (ins)>,
    InterfaceMethod<[{
      The op without the write: `torch.aten.add.Tensor` of `torch.aten.add_.Tensor`. It takes the same operands, returns
      what the written operand holds afterwards (before broadcasting and conversion to its dtype: the result has the
      dtype of `self` if the schema's `keptKinds` say so). Nullopt if there is none.
    }], "::std::optional<::ssa_compiler::torch::FunctionalOp>", "getFunctionalOp", (ins)>,
  ];
  let extraSharedClassDeclaration = [{
    /// True if the op may write what operand `index` refers to.
    bool isWritten(unsigned index) {
      return ::ssa_compiler::torch::isWrittenOperand($_op, $_op.getSchema(), index);
    }
    /// Indices of the operands that the op may write.
    ::llvm::SmallVector<unsigned> getWrittenOperands() {
      ::llvm::SmallVector<unsigned> written;
      for (unsigned index = 0, end = $_op->getNumOperands(); index < end; ++index)
        if (isWritten(index))
          written.push_back(index);
      return written;
    }
    /// True if result `result` may share storage with operand `operand`, or be it.
    bool mayAlias(unsigned result, unsigned operand) {
      return ::ssa_compiler::torch::mayAliasOperand($_op, $_op.getSchema(), result, operand);
    }
  }];
}

def TorchViewOpInterface : OpInterface<"TorchViewOpInterface"> {
  let cppNamespace = "::ssa_compiler::torch";
  let description = [{
    An op whose result is a view of its first operand, selected by the remaining ones. How such a view is read, written
    and checked is known by a `ViewModel` (TorchViewOps.h), found by the torch name of the op, so that it also serves
    views that `torch.operator` carries and ops of which only the name is left (`tssa.access`).
  }];
  let methods = [
    InterfaceMethod<"The model of this view; null if the op is no view.",
                    "const ::ssa_compiler::torch::ViewModel *", "getViewModel", (ins)>,
    InterfaceMethod<"The torch name of the view op: `torch.aten.select.int`.", "::llvm::StringRef", "getViewName", (ins)>,
    InterfaceMethod<"The schema attribute of an op that is not registered, or null.", "::mlir::StringAttr",
                    "getViewSchema", (ins)>,
  ];
  let extraClassOf = "return $_op.getViewModel() != nullptr;";
  let extraSharedClassDeclaration = [{
    /// The tensor that is looked at.
    ::mlir::Value getBase() { return $_op->getOperand(0); }
    /// The operands that say which part of it.
    ::mlir::OperandRange getParams() { return $_op->getOperands().drop_front(); }
  }];
}

#endif // SSA_COMPILER_DIALECT_TORCH_IR_TORCHOPINTERFACES_TD
