// The torch dialect: TorchScript programs as MLIR, textually the same as torch-mlir's dialect of that name.

#ifndef SSA_COMPILER_DIALECT_TORCH_IR_TORCHDIALECT_TD
#define SSA_COMPILER_DIALECT_TORCH_IR_TORCHDIALECT_TD

include "mlir/IR/OpBase.td"

def Torch_Dialect : Dialect {
  let name = "torch";
  let cppNamespace = "::ssa_compiler::torch";
  let summary = "TorchScript programs, with mutable and with immutable tensors";
  let description = [{
    Values of this dialect are TorchScript's: tensors, Python scalars, lists, tuples, dictionaries, modules. What it
    prints is byte for byte what torch-mlir prints, so that IR can pass from one tool to the other as text.

    Most ops are not declared in TableGen: each row of `GeneratedTorchOps.inc`, which a script writes from PyTorch's own
    schemas, becomes one registered op, with its verifier, memory effects and alias facts read from the schema.
  }];
  let hasConstantMaterializer = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    /// Registers one op for each row of GeneratedTorchOps.inc.
    void registerSchemaOps();
    /// Registers the types of TorchTypes.td.
    void registerTypes();

  private:
    /// Identities of the ops that have no C++ class.
    ::mlir::TypeIDAllocator typeIDs;

  public:
  }];
}

class Torch_Op<string mnemonic, list<Trait> traits = []> : Op<Torch_Dialect, mnemonic, traits>;

#endif // SSA_COMPILER_DIALECT_TORCH_IR_TORCHDIALECT_TD
