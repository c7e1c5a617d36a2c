//===- TSSA.td - the tssa dialect ------------------------------*- tablegen -*-===//
//
// The tssa dialect holds the three ops of TensorSSA conversion (FuncTs, DAC'24,
// section 4.1): `access` reads a view of a tensor value, `assign` gives the
// tensor value in which a view has new contents, and `update` records that a
// storage has a new version until `--tssa-rename` has used that fact.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_DIALECT_TSSA_IR_TSSA_TD
#define SSA_COMPILER_DIALECT_TSSA_IR_TSSA_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TSSA_Dialect : Dialect {
  let name = "tssa";
  let cppNamespace = "::ssa_compiler::tssa";
  let summary = "Pure reads and writes of tensor views (TensorSSA)";
  let description = [{
    A tensor value is a snapshot of a storage; a view is the name of a torch view
    op together with its operands other than the base. The ops never leave the
    compiler: `--tssa-lower` turns them into torch ops.
  }];
}

def TSSA_ValueTensor
    : Type<CPred<"::ssa_compiler::tssa::isValueTensor($_self)">,
           "torch value tensor (!torch.vtensor)">;

class TSSA_Op<string mnemonic, list<Trait> traits = []>
    : Op<TSSA_Dialect, mnemonic, traits>;

def TSSA_AccessOp : TSSA_Op<"access", [Pure]> {
  let summary = "the value of a view of a tensor value";
  let description = [{
    The result is what the view op `view`, applied to `base` with the operands
    `params`, would show. `schema` is the PyTorch schema of a view op that the
    torch dialect does not register.

    Constraints:
    - access_c1: `view` names an op with a view model (`TorchViewOpInterface`).
    - access_c2: `params` are as many as the schema of `view` has after the base.

    ```mlir
    %row = tssa.access "torch.aten.select.int" %b[%dim, %i : !torch.int, !torch.int]
         : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[3],f32>
    ```
  }];
  let arguments = (ins StrAttr:$view, TSSA_ValueTensor:$base,
                       Variadic<AnyType>:$params, OptionalAttr<StrAttr>:$schema);
  let results = (outs TSSA_ValueTensor:$result);
  let assemblyFormat = [{
    $view $base (`[` $params^ `:` type($params) `]`)? attr-dict
    `:` type($base) `->` type($result)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def TSSA_AssignOp : TSSA_Op<"assign", [Pure,
    TypesMatchWith<"the result has the type of base", "base", "result", "$_self">]> {
  let summary = "a tensor value in which a view has new contents";
  let description = [{
    The result equals `base` except where the view op `view`, applied with
    `params`, looks: there it holds `source`.

    Constraints:
    - assign_c1: `view` names an op with a view model.
    - assign_c2: the result has the type of `base`.
    - assign_c3: `params` are as many as the schema of `view` has after the base.

    ```mlir
    %b1 = tssa.assign "torch.aten.select.int" %b, %row[%dim, %i : !torch.int, !torch.int]
        : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
    ```
  }];
  let arguments = (ins StrAttr:$view, TSSA_ValueTensor:$base,
                       TSSA_ValueTensor:$source, Variadic<AnyType>:$params,
                       OptionalAttr<StrAttr>:$schema);
  let results = (outs TSSA_ValueTensor:$result);
  let assemblyFormat = [{
    $view $base `,` $source (`[` $params^ `:` type($params) `]`)? attr-dict
    `:` type($base) `,` type($source)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def TSSA_UpdateOp : TSSA_Op<"update", [
    TypesMatchWith<"value and old have the same type", "value", "old", "$_self">]> {
  let summary = "a storage has a new version";
  let description = [{
    From here on, in this block and in the blocks nested in it, `old` stands for
    the value `value`. `old` is the value that first held the storage. Between
    `--tssa-rewrite-mutation` and `--tssa-rename` a use of `old` therefore means
    its newest version: only the tssa passes may run on such a module.

    Constraints:
    - update_c1: `value` and `old` have the same type.

    ```mlir
    tssa.update %b1 of %b : !torch.vtensor<[4,3],f32>
    ```
  }];
  let arguments = (ins TSSA_ValueTensor:$value, TSSA_ValueTensor:$old);
  let assemblyFormat = "$value `of` $old attr-dict `:` type($value)";
}

#endif // SSA_COMPILER_DIALECT_TSSA_IR_TSSA_TD
