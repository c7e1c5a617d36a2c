// The torch_c dialect: casts between torch types and builtin types, textually the same as torch-mlir's.

#ifndef SSA_COMPILER_DIALECT_TORCHCONVERSION_IR_TORCHCONVERSION_TD
#define SSA_COMPILER_DIALECT_TORCHCONVERSION_IR_TORCHCONVERSION_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ssa-compiler/Dialect/Torch/IR/TorchTypes.td"

def TorchConversion_Dialect : Dialect {
  let name = "torch_c";
  let cppNamespace = "::ssa_compiler::torch_c";
  let summary = "casts between torch types and builtin types";
  let dependentDialects = ["::ssa_compiler::torch::TorchDialect", "::mlir::arith::ArithDialect"];
  let hasConstantMaterializer = 1;
}

class TorchConversion_Op<string mnemonic, list<Trait> traits = []> : Op<TorchConversion_Dialect, mnemonic, traits>;

//===-- Tensors -----------------------------------------------------------===//

class TorchConversion_TensorCastOp<string mnemonic, Type from, Type to, string text>
    : TorchConversion_Op<mnemonic, [Pure]> {
  let summary = text;
  let arguments = (ins from:$operand);
  let results = (outs to:$result);
  let assemblyFormat = "$operand attr-dict `:` qualified(type($operand)) `->` qualified(type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def TorchConversion_ToBuiltinTensorOp
    : TorchConversion_TensorCastOp<"to_builtin_tensor", Torch_ValueTensorType, AnyTensor,
                                   "a !torch.vtensor as a builtin tensor of the same sizes">;
def TorchConversion_FromBuiltinTensorOp
    : TorchConversion_TensorCastOp<"from_builtin_tensor", AnyTensor, Torch_ValueTensorType,
                                   "a builtin tensor as a !torch.vtensor of the same sizes">;

//===-- Scalars -----------------------------------------------------------===//

class TorchConversion_ScalarCastOp<string mnemonic, Type from, Type to>
    : TorchConversion_Op<mnemonic, [Pure]> {
  let summary = "a scalar of one type system as the same scalar of the other";
  let arguments = (ins from:$operand);
  let results = (outs to:$result);
  let assemblyFormat = "$operand attr-dict";
  let hasFolder = 1;
}
def TorchConversion_ToI1Op : TorchConversion_ScalarCastOp<"to_i1", Torch_BoolType, I1>;
def TorchConversion_FromI1Op : TorchConversion_ScalarCastOp<"from_i1", I1, Torch_BoolType>;
def TorchConversion_ToI64Op : TorchConversion_ScalarCastOp<"to_i64", Torch_IntType, I64>;
def TorchConversion_FromI64Op : TorchConversion_ScalarCastOp<"from_i64", I64, Torch_IntType>;
def TorchConversion_ToF64Op : TorchConversion_ScalarCastOp<"to_f64", Torch_FloatType, F64>;
def TorchConversion_FromF64Op : TorchConversion_ScalarCastOp<"from_f64", F64, Torch_FloatType>;
def TorchConversion_I64ToGeneratorOp : TorchConversion_ScalarCastOp<"i64_to_generator", I64, Torch_GeneratorType> {
  let hasFolder = 0;
}
def TorchConversion_GeneratorToI64Op : TorchConversion_ScalarCastOp<"generator_to_i64", Torch_GeneratorType, I64> {
  let hasFolder = 0;
}

def TorchConversion_GetNextSeedOp
    : TorchConversion_Op<"get_next_seed", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the next seed of the global random number generator, which it advances";
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict `:` `(``)` `->` qualified(type($result))";
}

#endif // SSA_COMPILER_DIALECT_TORCHCONVERSION_IR_TORCHCONVERSION_TD
