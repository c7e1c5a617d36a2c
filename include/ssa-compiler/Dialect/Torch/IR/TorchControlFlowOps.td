// Ops of the torch dialect that hold regions: branches, loops, shape and dtype calculations.

#ifndef SSA_COMPILER_DIALECT_TORCH_IR_TORCHCONTROLFLOWOPS_TD
#define SSA_COMPILER_DIALECT_TORCH_IR_TORCHCONTROLFLOWOPS_TD

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ssa-compiler/Dialect/Torch/IR/TorchTypes.td"

def Torch_PrimIfOp
    : Torch_Op<"prim.If", [RecursiveMemoryEffects, RecursivelySpeculatable,
                           DeclareOpInterfaceMethods<RegionBranchOpInterface>]> {
  let summary = "runs one of two blocks";
  let description = [{
    Both regions are present and end in `torch.prim.If.yield`, whose operands have the result types.
    ```mlir
    %r = torch.prim.If %c -> (!torch.int) {
      torch.prim.If.yield %a : !torch.int
    } else {
      torch.prim.If.yield %b : !torch.int
    }
    ```
  }];
  let arguments = (ins Torch_BoolType:$condition);
  let results = (outs Variadic<AnyTorchType>:$results);
  let regions = (region SizedRegion<1>:$thenRegion, SizedRegion<1>:$elseRegion);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def Torch_PrimIfYieldOp
    : Torch_Op<"prim.If.yield", [Terminator, ReturnLike, Pure, HasParent<"::ssa_compiler::torch::PrimIfOp">]> {
  let summary = "ends a block of torch.prim.If";
  let arguments = (ins Variadic<AnyTorchType>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` qualified(type($results)))?";
}

def Torch_PrimLoopOp
    : Torch_Op<"prim.Loop", [RecursiveMemoryEffects,
                             DeclareOpInterfaceMethods<RegionBranchOpInterface, ["getEntrySuccessorOperands"]>]> {
  let summary = "runs a block while a condition holds, at most a given number of times";
  let description = [{
    The block's arguments are the iteration number, from 0, and the carried values. Its terminator says whether to go
    on and gives their next values; the results are their last.
    ```mlir
    %r = torch.prim.Loop %n, %true, init(%x) {
    ^bb0(%i: !torch.int, %v: !torch.int):
      %next = torch.aten.add.int %v, %i : !torch.int, !torch.int -> !torch.int
      torch.prim.Loop.condition %true, iter(%next : !torch.int)
    } : (!torch.int, !torch.bool, !torch.int) -> !torch.int
    ```
  }];
  let arguments = (ins Torch_IntType:$maxTripCount, Torch_BoolType:$initialCondition,
                       Variadic<AnyTorchType>:$iterArgsInit);
  let results = (outs Variadic<AnyTorchType>:$results);
  let regions = (region SizedRegion<1>:$region);
  let assemblyFormat = [{
    $maxTripCount `,` $initialCondition `,` `init` `(` $iterArgsInit `)` $region
    attr-dict `:` functional-type(operands, results)
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// True if the loop never leaves before its trip count: the initial condition and the body's are constant true.
    bool isForLike();
    /// The block argument that counts iterations.
    ::mlir::BlockArgument getInductionVariable() { return getRegion().getArgument(0); }
    /// The block arguments that carry values from one iteration to the next.
    ::mlir::Block::BlockArgListType getIterArgs() { return getRegion().getArguments().drop_front(); }
    /// The terminator of the body.
    PrimLoopConditionOp getConditionOp();
  }];
}

def Torch_PrimLoopConditionOp
    : Torch_Op<"prim.Loop.condition",
               [Terminator, Pure, HasParent<"::ssa_compiler::torch::PrimLoopOp">,
                DeclareOpInterfaceMethods<RegionBranchTerminatorOpInterface>]> {
  let summary = "ends an iteration of torch.prim.Loop";
  let arguments = (ins Torch_BoolType:$shouldContinue, Variadic<AnyTorchType>:$iterArgs);
  let assemblyFormat = [{
    $shouldContinue `,` `iter` `(` ($iterArgs^ `:` qualified(type($iterArgs)))? `)` attr-dict
  }];
}

//===-- Shape and dtype calculations, which torch-mlir's passes make ------===//

class Torch_CalculateOp<string name, string keyword>
    : Torch_Op<name # ".calculate", [RecursiveMemoryEffects, DeclareOpInterfaceMethods<RegionBranchOpInterface>]> {
  let summary = "computes values in one region and their " # keyword # " in another";
  let description = "The calculation runs first, then the body, whose yielded values are the results.";
  let results = (outs Variadic<AnyTorchType>:$results);
  let regions = (region SizedRegion<1>:$body, SizedRegion<1>:$calculation);
  let assemblyFormat = "$body `" # keyword # "` $calculation attr-dict `:` type($results)";
  let hasRegionVerifier = 1;
}
class Torch_CalculateYieldOp<string name, string parent>
    : Torch_Op<name # ".calculate.yield", [Terminator, ReturnLike, Pure, HasParent<parent>]> {
  let summary = "ends the body of torch." # name # ".calculate";
  let arguments = (ins Variadic<AnyTorchType>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}
class Torch_CalculateYieldFactsOp<string name, string keyword, string parent>
    : Torch_Op<name # ".calculate.yield." # keyword,
               [Terminator, Pure, HasParent<parent>,
                DeclareOpInterfaceMethods<RegionBranchTerminatorOpInterface>]> {
  let summary = "ends the calculation of torch." # name # ".calculate";
  let arguments = (ins Variadic<AnyTorchType>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

def Torch_ShapeCalculateOp : Torch_CalculateOp<"shape", "shapes">;
def Torch_ShapeCalculateYieldOp : Torch_CalculateYieldOp<"shape", "::ssa_compiler::torch::ShapeCalculateOp">;
def Torch_ShapeCalculateYieldShapesOp
    : Torch_CalculateYieldFactsOp<"shape", "shapes", "::ssa_compiler::torch::ShapeCalculateOp">;
def Torch_DtypeCalculateOp : Torch_CalculateOp<"dtype", "dtypes">;
def Torch_DtypeCalculateYieldOp : Torch_CalculateYieldOp<"dtype", "::ssa_compiler::torch::DtypeCalculateOp">;
def Torch_DtypeCalculateYieldDtypesOp
    : Torch_CalculateYieldFactsOp<"dtype", "dtypes", "::ssa_compiler::torch::DtypeCalculateOp">;

#endif // SSA_COMPILER_DIALECT_TORCH_IR_TORCHCONTROLFLOWOPS_TD
