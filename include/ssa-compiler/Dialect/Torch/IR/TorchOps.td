// Ops of the torch dialect that no PyTorch schema describes: constants, literals, containers, casts, copies, assertions.
// The textual form of each is torch-mlir's.

#ifndef SSA_COMPILER_DIALECT_TORCH_IR_TORCHOPS_TD
#define SSA_COMPILER_DIALECT_TORCH_IR_TORCHOPS_TD

include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/CastInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ssa-compiler/Dialect/Torch/IR/TorchTypes.td"
include "ssa-compiler/Dialect/Torch/IR/TorchOpInterfaces.td"
include "ssa-compiler/Dialect/Torch/IR/TorchControlFlowOps.td"
include "ssa-compiler/Dialect/Torch/IR/TorchModuleOps.td"

def Torch_NamesResults : DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>;

//===-- Constants ---------------------------------------------------------===//

class Torch_ConstantOp<string kind, list<Trait> traits = []>
    : Torch_Op<"constant." # kind, !listconcat([ConstantLike, Pure], traits)> {
  let summary = "a constant of type !torch." # kind;
  let hasFolder = 1;
}

def Torch_ConstantNoneOp : Torch_ConstantOp<"none", [Torch_NamesResults]> {
  let results = (outs Torch_NoneType:$result);
  let assemblyFormat = "attr-dict";
}
def Torch_ConstantStrOp : Torch_ConstantOp<"str", [Torch_NamesResults]> {
  let arguments = (ins StrAttr:$value);
  let results = (outs Torch_StringType:$result);
  let assemblyFormat = "$value attr-dict";
}
def Torch_ConstantIntOp : Torch_ConstantOp<"int", [Torch_NamesResults]> {
  let arguments = (ins I64Attr:$value);
  let results = (outs Torch_IntType:$result);
  let builders = [OpBuilder<(ins "int64_t":$value), [{
    build($_builder, $_state, IntType::get($_builder.getContext()), $_builder.getI64IntegerAttr(value));
  }]>];
  let hasCustomAssemblyFormat = 1;
}
def Torch_ConstantFloatOp : Torch_ConstantOp<"float", [Torch_NamesResults]> {
  let arguments = (ins F64Attr:$value);
  let results = (outs Torch_FloatType:$result);
  let assemblyFormat = "$value attr-dict";
}
def Torch_ConstantBoolOp : Torch_ConstantOp<"bool", [Torch_NamesResults]> {
  let arguments = (ins I1Attr:$value);
  let results = (outs Torch_BoolType:$result);
  let assemblyFormat = "$value attr-dict";
}
def Torch_ConstantNumberOp : Torch_ConstantOp<"number"> {
  let arguments = (ins AnyAttrOf<[F64Attr, I64Attr]>:$value);
  let results = (outs Torch_NumberType:$result);
}
def Torch_ConstantDeviceOp : Torch_Op<"constant.device", [Pure, Torch_NamesResults]> {
  let summary = "a constant of type !torch.Device";
  let arguments = (ins StrAttr:$value);
  let results = (outs Torch_DeviceType:$result);
  let assemblyFormat = "$value attr-dict";
}

def Torch_ValueTensorLiteralOp
    : Torch_Op<"vtensor.literal", [ConstantLike, Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "an immutable tensor with the given elements";
  let description = "`%0 = torch.vtensor.literal(dense<0.0> : tensor<3xf32>) : !torch.vtensor<[3],f32>`";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Torch_ValueTensorType:$result);
  let assemblyFormat = "`(` $value `)` attr-dict `:` qualified(type($result))";
  let hasFolder = 1;
}
def Torch_NonValueTensorLiteralOp : Torch_Op<"tensor.literal"> {
  let summary = "a new mutable tensor with the given elements; its type may say less than they do";
  let description = "`%0 = torch.tensor.literal(dense<0.0> : tensor<3xf32>) : !torch.tensor`";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Res<Torch_NonValueTensorType, "", [MemAlloc]>:$result);
  let assemblyFormat = "`(` $value `)` attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

//===-- Containers --------------------------------------------------------===//

def Torch_PrimListConstructOp
    : Torch_Op<"prim.ListConstruct", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "makes a list";
  let description = [{
    A list is mutable, so that two lists are never the same. Where nothing can write this one (all its uses are operands
    that are only read), the op has no memory effect, and equal lists may be merged.
  }];
  let arguments = (ins Variadic<AnyTorchType>:$elements);
  let results = (outs Torch_ListType:$result);
  let assemblyFormat = "$elements attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Torch_PrimTupleConstructOp : Torch_Op<"prim.TupleConstruct", [Pure]> {
  let summary = "makes a tuple, which refers to its elements";
  let arguments = (ins Variadic<AnyTorchType>:$elements);
  let results = (outs Torch_TupleType:$result);
  let assemblyFormat = "$elements attr-dict `:` qualified(type($elements)) `->` qualified(type($result))";
  let hasVerifier = 1;
}
def Torch_PrimDictConstructOp : Torch_Op<"prim.DictConstruct", [SameVariadicOperandSize]> {
  let summary = "makes a dictionary";
  let arguments = (ins Variadic<AnyTorchDictKeyType>:$keys, Variadic<AnyTorchType>:$values);
  let results = (outs Res<Torch_DictType, "", [MemAlloc]>:$result);
  let assemblyFormat = [{
    `keys` `(` ($keys^ `:` qualified(type($keys)))? `)` `values` `(` ($values^ `:` qualified(type($values)))? `)`
    attr-dict `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}
def Torch_PrimListUnpackOp : Torch_Op<"prim.ListUnpack", [MemoryEffects<[MemRead]>]> {
  let summary = "reads all elements of a list of known length";
  let arguments = (ins AnyTorchType:$operand);
  let results = (outs Variadic<AnyTorchType>:$results);
  let assemblyFormat = "$operand attr-dict `:` qualified(type($operand)) `->` qualified(type($results))";
}

//===-- Interpreter -------------------------------------------------------===//

def Torch_PrimStoreOp : Torch_Op<"prim.Store", [MemoryEffects<[MemWrite]>]> {
  let summary = "assigns a local variable of the interpreter";
  let arguments = (ins StrAttr:$name, AnyTorchType:$value);
  let assemblyFormat = "$name `,` $value attr-dict `:` qualified(type($value))";
}
def Torch_PrimLoadOp : Torch_Op<"prim.Load", [MemoryEffects<[MemRead]>]> {
  let summary = "reads a local variable of the interpreter";
  let arguments = (ins StrAttr:$name);
  let results = (outs AnyTorchType:$result);
  let assemblyFormat = "$name attr-dict `:` qualified(type($result))";
}
def Torch_PrimEnterOp : Torch_Op<"prim.Enter"> {
  let summary = "enters a context manager";
  let arguments = (ins AnyTorchType:$inp);
  let results = (outs Torch_NoneType:$result);
  let assemblyFormat = "$inp attr-dict `:` qualified(type($inp))";
}
def Torch_PrimExitOp : Torch_Op<"prim.Exit"> {
  let summary = "leaves a context manager";
  let arguments = (ins AnyTorchType:$inp);
  let results = (outs AnyTorchTensorType:$result);
  let assemblyFormat = "$inp attr-dict `:` qualified(type($inp)) `->` qualified(type($result))";
}

//===-- Casts and copies --------------------------------------------------===//

def Torch_DerefineOp
    : Torch_Op<"derefine", [Pure, DeclareOpInterfaceMethods<CastOpInterface>,
                            DeclareOpInterfaceMethods<TorchSchemaOpInterface>]> {
  let summary = "the operand, as a value of a type that includes its type";
  let arguments = (ins AnyTorchType:$operand);
  let results = (outs AnyTorchType:$result);
  let assemblyFormat = "$operand attr-dict `:` qualified(type($operand)) `to` qualified(type($result))";
  let hasFolder = 1;
}
def Torch_TensorStaticInfoCastOp
    : Torch_Op<"tensor_static_info_cast", [Pure, DeclareOpInterfaceMethods<CastOpInterface>,
                                           DeclareOpInterfaceMethods<TorchSchemaOpInterface>]> {
  let summary = "the operand itself, with more or less said in its type";
  let arguments = (ins AnyTorchTensorType:$operand);
  let results = (outs AnyTorchTensorType:$result);
  let assemblyFormat = "$operand attr-dict `:` qualified(type($operand)) `to` qualified(type($result))";
  let hasFolder = 1;
}
def Torch_CopyToNonValueTensorOp
    : Torch_Op<"copy.to_tensor", [DeclareOpInterfaceMethods<InferTypeOpInterface>,
        TypesMatchWith<"operand is the !torch.vtensor of the result", "result", "operand",
                       "::mlir::cast<NonValueTensorType>($_self).getWithValueSemantics()">]> {
  let summary = "a new mutable tensor that holds what the operand holds";
  let arguments = (ins Torch_ValueTensorType:$operand);
  let results = (outs Res<Torch_NonValueTensorType, "", [MemAlloc]>:$result);
  let assemblyFormat = "$operand attr-dict `:` qualified(type($result))";
}
def Torch_CopyToValueTensorOp
    : Torch_Op<"copy.to_vtensor", [DeclareOpInterfaceMethods<InferTypeOpInterface>,
        TypesMatchWith<"operand is the !torch.tensor of the result", "result", "operand",
                       "::mlir::cast<ValueTensorType>($_self).getWithoutValueSemantics()">]> {
  let summary = "what a mutable tensor holds now";
  let arguments = (ins Arg<Torch_NonValueTensorType, "", [MemRead]>:$operand);
  let results = (outs Torch_ValueTensorType:$result);
  let assemblyFormat = "$operand attr-dict `:` qualified(type($result))";
}
def Torch_OverwriteTensorContentsOp
    : Torch_Op<"overwrite.tensor.contents",
        [TypesMatchWith<"overwritten is the !torch.tensor of value", "value", "overwritten",
                        "::mlir::cast<ValueTensorType>($_self).getWithoutValueSemantics()">]> {
  let summary = "replaces what a mutable tensor holds; its sizes and dtype stay";
  let arguments = (ins Torch_ValueTensorType:$value,
                       Arg<Torch_NonValueTensorType, "", [MemWrite]>:$overwritten);
  let assemblyFormat = [{
    $value `overwrites` $overwritten attr-dict `:` qualified(type($value)) `,` qualified(type($overwritten))
  }];
}

//===-- Carriers and annotations ------------------------------------------===//

def Torch_OperatorOp
    : Torch_Op<"operator", [DeclareOpInterfaceMethods<TorchSchemaOpInterface>,
                            DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "an operator of PyTorch that is not registered as an op";
  let description = [{
    `name` is the operator's, `torch.aten.foo.overload` or without the `torch.`. The discardable attribute `tssa.schema`
    holds its PyTorch schema; without it the schema is looked up by name, and an operator without a schema may read and
    write everything that its operands refer to.
    ```mlir
    %1 = torch.operator "torch.aten.sinc_"(%0) {tssa.schema = "aten::sinc_(Tensor(a!) self) -> Tensor(a!)"}
        : (!torch.tensor) -> !torch.tensor
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<AnyTorchType>:$operands);
  let results = (outs Variadic<AnyTorchType>:$results);
  let regions = (region VariadicRegion<AnyRegion>:$regions);
  let assemblyFormat = "$name `(` $operands `)` attr-dict `:` functional-type($operands, $results) $regions";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Name of the discardable attribute that holds the schema.
    static ::llvm::StringRef getSchemaAttrName() { return "tssa.schema"; }
  }];
}
def Torch_OperatorTerminatorOp
    : Torch_Op<"operator_terminator", [Terminator, HasParent<"::ssa_compiler::torch::OperatorOp">]> {
  let summary = "ends a block of torch.operator";
  let arguments = (ins Variadic<AnyTorchType>:$operands);
  let assemblyFormat = "$operands attr-dict `:` type($operands)";
}
def Torch_RuntimeAssertOp : Torch_Op<"runtime.assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "stops the program with a message unless the condition holds";
  let arguments = (ins Torch_BoolType:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict";
  let hasCanonicalizer = 1;
}
def Torch_PromoteDtypesOp : Torch_Op<"promote_dtypes", [MemoryEffects<[MemRead]>]> {
  let summary = "the dtype that PyTorch promotes the given dtypes to; a rank of None stands for a Python number";
  let arguments = (ins Torch_ListType:$ranks, Torch_ListType:$dtypes);
  let results = (outs Torch_IntType:$result);
  let assemblyFormat = "$ranks `,` $dtypes attr-dict `:` functional-type(operands, results)";
}
def Torch_LinearParamsCreateOp : Torch_Op<"linear_params.create", [MemoryEffects<[MemRead]>]> {
  let summary = "packs weight and bias of a quantized linear";
  let arguments = (ins AnyTorchTensorType:$weight, Optional<AnyTorchTensorType>:$bias);
  let results = (outs Res<Torch_LinearParamsType, "", [MemAlloc]>:$result);
  let assemblyFormat = [{
    $weight (`,` $bias^)? attr-dict `:` qualified(type($weight)) (`,` qualified(type($bias))^)?
  }];
}
def Torch_SymbolicIntOp : Torch_Op<"symbolic_int", [Pure]> {
  let summary = "a size that is unknown but named, with its bounds";
  let arguments = (ins StrAttr:$symbol_name, I64Attr:$min_val, I64Attr:$max_val);
  let results = (outs Torch_IntType:$result);
  let assemblyFormat = [{
    $symbol_name ` ` `{` `min_val` `=` $min_val `,` `max_val` `=` $max_val `}` attr-dict `:` qualified(type($result))
  }];
}
def Torch_BindSymbolicShapeOp : Torch_Op<"bind_symbolic_shape"> {
  let summary = "says that the operand's sizes are the given functions of named sizes";
  let arguments = (ins Torch_ValueTensorType:$operand, Variadic<Torch_IntType>:$shape_symbols,
                       Builtin_AffineMapAttr:$shape_expressions);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}
def Torch_HigherOrderFlexAttentionOp
    : Torch_Op<"hop_flex_attention", [DeclareOpInterfaceMethods<TorchSchemaOpInterface>,
                                      DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "attention with functions that modify scores and mask";
  let arguments = (ins AnyTorchTensorType:$query, AnyTorchTensorType:$key, AnyTorchTensorType:$value,
                       AnyTorchOptionalFloatType:$scale, Torch_BoolType:$return_lse, Torch_BoolType:$return_max_scores,
                       OptionalAttr<BoolAttr>:$enable_gqa, OptionalAttr<FlatSymbolRefAttr>:$score_mod_fn,
                       OptionalAttr<FlatSymbolRefAttr>:$mask_mod_fn);
  let results = (outs AnyTorchTensorType:$output, AnyTorchOptionalTensorType:$logsumexp,
                      AnyTorchOptionalTensorType:$max_scores);
  let hasCustomAssemblyFormat = 1;
}

#endif // SSA_COMPILER_DIALECT_TORCH_IR_TORCHOPS_TD
