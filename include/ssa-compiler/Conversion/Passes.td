//===- Passes.td - conversions between dialects ----------------*- tablegen -*-===//
//
// Conversion passes: from TorchScript's control flow and scalars to scf and
// arith, and from torch types to those that IREE wants at boundaries.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_CONVERSION_PASSES_TD
#define SSA_COMPILER_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def TorchToSCFPass : Pass<"torch-to-scf", "::mlir::ModuleOp"> {
  let summary = "[scf] convert torch.prim.If/Loop to scf and torch scalars to arith";
  let description = [{
    `torch.prim.If` becomes `scf.if`. A `torch.prim.Loop` whose conditions are
    constant true becomes `scf.for`, any other one `scf.while`. `!torch.int`,
    `!torch.float` and `!torch.bool` values become `i64`, `f64` and `i1`, and the
    ops on them `arith` and `math`; where a torch op still takes a scalar,
    `torch_c.from_i64` and its like connect the two. Integer arithmetic has
    Python's meaning (floor division, remainder with the divisor's sign).
    `torch.runtime.assert` becomes `cf.assert`, whose message gets the source line.
    Tensors are left alone.

    Before:
    ```mlir
    %r = torch.prim.If %c -> (!torch.int) {
      %s = torch.aten.add.int %n, %int1 : !torch.int, !torch.int -> !torch.int
      torch.prim.If.yield %s : !torch.int
    } else {
      torch.prim.If.yield %n : !torch.int
    }
    ```
    After:
    ```mlir
    %r = scf.if %c -> (i64) {
      %s = arith.addi %n, %c1 : i64
      scf.yield %s : i64
    } else {
      scf.yield %n : i64
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::ssa_compiler::torch_c::TorchConversionDialect"
  ];
}

def ExpandFloatToIntPass : Pass<"expand-float-to-int", "::mlir::ModuleOp"> {
  let summary = "[iree] convert double to int64 by integer arithmetic";
  let description = [{
    IREE's virtual machine runs scalar code and cannot convert an `f64` to an `i64`.
    Each `arith.fptosi` between these types becomes shifts of the significand by the
    exponent. Other conversions are left alone.

    Before: `%i = arith.fptosi %x : f64 to i64`
    After: `%bits = arith.bitcast %x : f64 to i64`, then `arith.andi`, `arith.shli`,
    `arith.shrui` and `arith.select` on `%bits`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def FoldNestedUpdatesPass
    : Pass<"fold-nested-updates", "::mlir::func::FuncOp"> {
  let summary = "[iree] store through a view of a view at once";
  let description = [{
    Lowered TensorSSA form stores through a view of a view by reading the outer view,
    changing what the inner one shows of it, and storing all of it back. Where the
    views are a strided slice of the tensor (select, slice, dimensions permuted or of size 1),
    this becomes one `tensor.insert_slice`, which IREE does in place and without
    reading. A store through a permuted tensor, which would permute it twice, does
    too. Runs on value semantics, before `--legalize-iree-boundary`.

    Before (`y[i, j] = v`):
    ```mlir
    %row = torch.aten.select.int %y, %int0, %i : ...
    %new = torch.aten.select_scatter %row, %v, %int0, %j : ...
    %y1 = torch.aten.select_scatter %y, %new, %int0, %i : ...
    ```
    After:
    ```mlir
    %base = torch_c.to_builtin_tensor %y : ...
    %value = torch_c.to_builtin_tensor %v : ...
    %put = tensor.insert_slice %value into %base[%row, %column] [1, 1] [1, 1] : ...
    %y1 = torch_c.from_builtin_tensor %put : ...
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect",
    "::ssa_compiler::torch::TorchDialect",
    "::ssa_compiler::torch_c::TorchConversionDialect"
  ];
  let statistics = [
    Statistic<"numFolded", "folded", "stores through views of views">
  ];
}

def ReserveCapacityPass : Pass<"reserve-capacity", "::mlir::func::FuncOp"> {
  let summary = "[iree] carry a tensor that a loop makes longer in a buffer with room";
  let description = [{
    `y = torch.cat([y, x])` in a loop makes a tensor of another size in each
    iteration, and copies all of it. Where `x` has a known size along the dimension
    and the number of iterations is bounded, the loop carries a buffer with room for
    all iterations, and the length of `y`, instead: an iteration stores `x` behind
    what is there, and `y` is a slice. The branches of an `scf.if` may append
    different parts, or nothing.

    The iterations of an `scf.for` are counted. Those of an `scf.while` are bounded
    if its condition, or the flag that says whether there is another one, compares
    an int, or a sum of some, with a number from outside, and that grows, or
    shrinks, towards it on each way through an iteration. The bound of an
    `scf.while` may never be reached: room is reserved for as many iterations as
    fit 1 GiB. No loop has room for more than 65,536. More raise an error.

    A list of dynamic length has a buffer already, which is made twice as large
    where an append finds no room. In such an `scf.while` it gets the room in front
    of the loop, for at most 16,777,216 iterations, and keeps its size.

    Before:
    ```mlir
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %y0) -> (!torch.vtensor<[1,?],f32>) {
      %list = torch.prim.ListConstruct %y, %x : ...
      %longer = torch.aten.cat %list, %int1 : ... -> !torch.vtensor<[1,?],f32>
      scf.yield %longer : !torch.vtensor<[1,?],f32>
    }
    ```
    After:
    ```mlir
    %empty = tensor.empty(%capacity) : tensor<1x?xf32>
    %first = tensor.insert_slice %y0_ into %empty[0, 0] [1, 3] [1, 1] : ...
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%buffer = %first, %length = %c3) -> (tensor<1x?xf32>, i64) {
      %put = tensor.insert_slice %x_ into %buffer[0, %length] [1, 1] [1, 1] : ...
      %longer = arith.addi %length, %c1_i64 : i64
      scf.yield %put, %longer : tensor<1x?xf32>, i64
    }
    %slice = tensor.extract_slice %r#0[0, 0] [1, %r#1] [1, 1] : ...
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::ssa_compiler::torch_c::TorchConversionDialect"
  ];
  let statistics = [
    Statistic<"numReserved", "reserved", "tensors that are carried in a buffer">
  ];
}

def LegalizeIREEBoundaryPass
    : Pass<"legalize-iree-boundary", "::mlir::ModuleOp"> {
  let summary = "[iree] use builtin tensors at function and region boundaries";
  let description = [{
    IREE takes builtin types where values enter or leave a function or an `scf`
    region, and torch types between torch ops. Arguments, results, branch results
    and carried values of type `!torch.vtensor` become builtin tensors;
    `torch_c.to_builtin_tensor` and `torch_c.from_builtin_tensor` connect them to
    the torch ops. Requires value semantics and known dtypes.
  }];
  let dependentDialects = [
    "::mlir::scf::SCFDialect", "::ssa_compiler::torch_c::TorchConversionDialect"
  ];
}

#endif // SSA_COMPILER_CONVERSION_PASSES_TD
