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
      dtype of `self` whenever all tensor operands have it). Nullopt if there is none.
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
    An op whose result is a view of its first operand, selected by the remaining ones. The methods are static: they need
    no operation, only the name of the view op, and are reached through `OperationName::getInterface`.
    `base`, `src` and results are immutable tensors; `params` are the view op's operands after the first.
  }];
  let methods = [
    StaticInterfaceMethod<[{
      Builds the value of the view: what `viewOp` applied to `base` holds.
    }], "::mlir::FailureOr<::mlir::Value>", "buildAccess",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::llvm::StringRef":$viewOp, "::mlir::Value":$base,
         "::mlir::ValueRange":$params, "::mlir::Type":$resultType, "::mlir::DictionaryAttr":$attrs)>,
    StaticInterfaceMethod<[{
      Builds `base` with the elements that the view selects replaced by those of `src`, which has the view's type.
    }], "::mlir::FailureOr<::mlir::Value>", "buildAssign",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::llvm::StringRef":$viewOp, "::mlir::Value":$base,
         "::mlir::Value":$src, "::mlir::ValueRange":$params, "::mlir::DictionaryAttr":$attrs)>,
    StaticInterfaceMethod<[{
      Builds the checks that eager PyTorch makes when it takes the view, as `torch.runtime.assert`.
    }], "::llvm::LogicalResult", "buildBoundsChecks",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::llvm::StringRef":$viewOp, "::mlir::Value":$base,
         "::mlir::ValueRange":$params), [{}], [{ return ::llvm::success(); }]>,
  ];
}

#endif // SSA_COMPILER_DIALECT_TORCH_IR_TORCHOPINTERFACES_TD
