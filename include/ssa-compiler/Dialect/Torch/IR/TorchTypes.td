// Types of the torch dialect and the type constraints that its hand-written ops use.

#ifndef SSA_COMPILER_DIALECT_TORCH_IR_TORCHTYPES_TD
#define SSA_COMPILER_DIALECT_TORCH_IR_TORCHTYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "ssa-compiler/Dialect/Torch/IR/TorchDialect.td"

class Torch_Type<string name, string typeMnemonic, string baseCppClass = "::mlir::Type">
    : TypeDef<Torch_Dialect, name, [], baseCppClass> {
  let mnemonic = typeMnemonic;
}

//===-- Tensors -----------------------------------------------------------===//

class Torch_TensorType<string name, string typeMnemonic>
    : Torch_Type<name, typeMnemonic, "::ssa_compiler::torch::BaseTensorType"> {
  let parameters = (ins
    ArrayRefParameter<"int64_t", "sizes, kUnknownSize where unknown; empty if not `ranked`">:$rawSizes,
    "bool":$ranked,
    "::mlir::Type":$optionalDtype);
  let builders = [
    TypeBuilder<(ins "::std::optional<::llvm::ArrayRef<int64_t>>":$optionalSizes, "::mlir::Type":$optionalDtype), [{
      return $_get($_ctxt, optionalSizes.value_or(::llvm::ArrayRef<int64_t>()), optionalSizes.has_value(),
                   optionalDtype);
    }]>
  ];
  let skipDefaultBuilders = 1;
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
}

def Torch_NonValueTensorType : Torch_TensorType<"NonValueTensor", "tensor"> {
  let summary = "a mutable tensor, which may share its storage with others";
  let description = [{
    ```
    tensor-type ::= (`!torch.tensor` | `!torch.vtensor`) (`<` sizes `,` dtype `>`)?
    sizes       ::= `*` | `[` (size (`,` size)*)? `]`
    size        ::= `?` | decimal-literal
    dtype       ::= `unk` | type
    ```
    Without the part in angle brackets nothing is known: the same as `<*,unk>`.

    A value of this type is a reference. Two values may name overlapping parts of one storage, and an op that writes one
    of them changes what the other holds.

    | PyTorch                  | MLIR                | PyTorch                      | MLIR                  |
    |--------------------------|---------------------|------------------------------|-----------------------|
    | float16, bfloat16        | f16, bf16           | bool                         | i1                    |
    | float32, float64         | f32, f64            | complex32, 64, 128           | complex<f16, f32, f64>|
    | uint8, uint16, ...       | ui8, ui16, ...      | qint8, quint8, qint32        | !torch.qint8, ...     |
    | int8, int16, int32, int64| si8, si16, si32, si64| float8_e5m2, e4m3fn, ...    | f8E5M2, f8E4M3FN, ... |
  }];
  let extraClassDeclaration = [{
    /// The type of an immutable tensor with the same sizes and dtype.
    ValueTensorType getWithValueSemantics() const;
    /// `!torch.tensor`.
    static NonValueTensorType getWithLeastStaticInformation(::mlir::MLIRContext *context);
  }];
}

def Torch_ValueTensorType : Torch_TensorType<"ValueTensor", "vtensor"> {
  let summary = "an immutable tensor: a value, like a number";
  let description = [{
    Grammar and dtypes are those of `!torch.tensor`. Nothing writes a value of this type, so it aliases nothing.
  }];
  let extraClassDeclaration = [{
    /// The type of a mutable tensor with the same sizes and dtype.
    NonValueTensorType getWithoutValueSemantics() const;
    /// `!torch.vtensor`.
    static ValueTensorType getWithLeastStaticInformation(::mlir::MLIRContext *context);
    /// The builtin tensor type with the same sizes and dtype (signs kept); null if the dtype is unknown or none of
    /// MLIR's builtin element types.
    ::mlir::TensorType toBuiltinTensor() const;
  }];
}

def AnyTorchTensorType
    : Type<CPred<"::mlir::isa<::ssa_compiler::torch::BaseTensorType>($_self)">, "torch tensor type">;

//===-- Scalars and other atoms -------------------------------------------===//

class Torch_AtomType<string name, string typeMnemonic, string text> : Torch_Type<name, typeMnemonic> {
  let summary = text;
}
def Torch_BoolType : Torch_AtomType<"Bool", "bool", "a Python bool">;
def Torch_IntType : Torch_AtomType<"Int", "int", "a Python int, of 64 bits as in TorchScript">;
def Torch_FloatType : Torch_AtomType<"Float", "float", "a Python float: 64 bits">;
def Torch_NumberType : Torch_AtomType<"Number", "number", "an int, a float or a complex number">;
def Torch_StringType : Torch_AtomType<"String", "str", "an immutable Python string">;
def Torch_NoneType : Torch_AtomType<"None", "none", "the type of None">;
def Torch_AnyType : Torch_AtomType<"Any", "any", "any TorchScript value">;
def Torch_DeviceType : Torch_AtomType<"Device", "Device", "a torch.device">;
def Torch_GeneratorType : Torch_AtomType<"Generator", "Generator", "a torch.Generator">;
def Torch_LinearParamsType : Torch_AtomType<"LinearParams", "LinearParams", "packed weight and bias of a quantized linear">;
def Torch_QInt8Type : Torch_AtomType<"QInt8", "qint8", "dtype of torch.qint8">;
def Torch_QInt16Type : Torch_AtomType<"QInt16", "qint16", "a 16-bit quantized dtype, which PyTorch does not have">;
def Torch_QInt32Type : Torch_AtomType<"QInt32", "qint32", "dtype of torch.qint32">;
def Torch_QUInt8Type : Torch_AtomType<"QUInt8", "quint8", "dtype of torch.quint8">;

//===-- Containers --------------------------------------------------------===//

class Torch_ContainerType<string name, string typeMnemonic, string text> : Torch_Type<name, typeMnemonic> {
  let summary = text;
  let description = "Contained types are torch types, written without `!torch.`.";
  let parameters = (ins "::mlir::Type":$containedType);
  let builders = [
    TypeBuilderWithInferredContext<(ins "::mlir::Type":$containedType), [{
      return $_get(containedType.getContext(), containedType);
    }]>
  ];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def Torch_OptionalType : Torch_ContainerType<"Optional", "optional", "`!torch.optional<T>`: a T or None">;
def Torch_ListType : Torch_ContainerType<"List", "list", "`!torch.list<T>`: a mutable list">;

class Torch_ProductType<string name, string typeMnemonic, string text> : Torch_Type<name, typeMnemonic> {
  let summary = text;
  let description = "Contained types are torch types, written without `!torch.`.";
  let parameters = (ins ArrayRefParameter<"::mlir::Type", "contained types">:$containedTypes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def Torch_TupleType : Torch_ProductType<"Tuple", "tuple", "`!torch.tuple<T1, T2>`: an immutable tuple">;
def Torch_UnionType : Torch_ProductType<"Union", "union", "`!torch.union<T1, T2>`: one of several types">;

def Torch_DictType : Torch_Type<"Dict", "dict"> {
  let summary = "`!torch.dict<K, V>`: a mutable dictionary";
  let parameters = (ins "::mlir::Type":$keyType, "::mlir::Type":$valueType);
  let builders = [
    TypeBuilderWithInferredContext<(ins "::mlir::Type":$keyType, "::mlir::Type":$valueType), [{
      return $_get(keyType.getContext(), keyType, valueType);
    }]>
  ];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Torch_NnModuleType : Torch_Type<"NnModule", "nn.Module"> {
  let summary = "`!torch.nn.Module<\"name\">`: an instance of a class of module";
  let parameters = (ins StringRefParameter<"class name">:$className);
  let hasCustomAssemblyFormat = 1;
}

//===-- Constraints -------------------------------------------------------===//

def AnyTorchType
    : Type<CPred<"::ssa_compiler::torch::isTorchValueType($_self)">, "torch type">;
def AnyTorchOptionalFloatType : AnyTypeOf<[Torch_FloatType, Torch_OptionalType, Torch_NoneType], "optional float type">;
def AnyTorchOptionalIntType : AnyTypeOf<[Torch_IntType, Torch_OptionalType, Torch_NoneType], "optional int type">;
def AnyTorchOptionalTensorType
    : AnyTypeOf<[AnyTorchTensorType, Torch_OptionalType, Torch_NoneType], "optional torch tensor type">;
def AnyTorchOptionalGeneratorType
    : AnyTypeOf<[Torch_GeneratorType, Torch_OptionalType, Torch_NoneType], "optional Generator type">;
def AnyTorchDictKeyType
    : AnyTypeOf<[Torch_AnyType, Torch_IntType, Torch_BoolType, Torch_FloatType, Torch_StringType, AnyTorchTensorType],
                "type of a dictionary key">;

#endif // SSA_COMPILER_DIALECT_TORCH_IR_TORCHTYPES_TD
