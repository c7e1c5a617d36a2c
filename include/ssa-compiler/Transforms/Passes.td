//===- Passes.td - passes on torch tensor programs -------------*- tablegen -*-===//
//
// TensorSSA conversion as the four steps of the FuncTs paper (DAC'24, section
// 4.2), the passes around it, and the verifier of its result.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_TRANSFORMS_PASSES_TD
#define SSA_COMPILER_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TorchInsertBoundsChecksPass
    : Pass<"torch-insert-bounds-checks", "::mlir::ModuleOp"> {
  let summary = "[tensorssa] assert that view ops with dynamic operands stay in range";
  let description = [{
    Eager PyTorch raises an IndexError when a view is taken outside of its base;
    compiled code would read or write another row. For each view op whose range is
    not known to be right the pass inserts the condition as `cf.assert`, with
    eager's message and the source line. The conditions come from the view's model
    (`TorchViewOpInterface`).
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::ssa_compiler::torch_c::TorchConversionDialect"
  ];
}

def TSSAResolveAmbiguousAliasesPass
    : Pass<"tssa-resolve-ambiguous-aliases", "::mlir::func::FuncOp"> {
  let summary = "[tensorssa] make explicit which of several tensors a name is";
  let description = [{
    An ambiguous alias, a name that is one tensor or another, depending on control
    flow, and is written while the other name is in use, becomes a tag beside the tensor, and an int for
    each operand of its views that differs. A read selects by the tag; a write
    computes the new contents and copies them into the tensor that the tag names.
    What leaves a region is a copy if its tag may name a tensor made there. Other
    names of a tensor that the tag may name become ambiguous aliases as well if they
    are used across such a write. Annotates the function's results that are, or may
    be, one tensor while the edges still tell. Does nothing for names that mean one
    tensor, or that may be snapshots (docs/Rationale/TensorSSA.md).

    Before:
    ```mlir
    %v = scf.if %c -> (!torch.tensor<[3],f32>) {
      scf.yield %a0 : !torch.tensor<[3],f32>   // a[0]
    } else {
      scf.yield %b1 : !torch.tensor<[3],f32>   // b[1]
    }
    %w = torch.aten.add_.Scalar %v, %one, %one : ...
    ```
    After, `%tag` being 0 or 1:
    ```mlir
    %old = scf.if (%tag == 0) { clone of a[0] } else { clone of b[1] }
    %new = torch.aten.add_.Scalar %old, %one, %one : ...
    scf.if (%tag == 0) { torch.aten.copy_ a[0], %old } else { torch.aten.copy_ b[1], %old }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
    "::ssa_compiler::torch::TorchDialect",
    "::ssa_compiler::torch_c::TorchConversionDialect"
  ];
}

def TSSARewriteMutationPass
    : Pass<"tssa-rewrite-mutation", "::mlir::func::FuncOp"> {
  let summary = "[tensorssa] replace views and in-place writes by access, assign and update";
  let description = [{
    Each in-place op is computed by its functional form. The new contents of the
    written view are *passed up* along its path with `tssa.assign` until the
    storage's root has a new value, which `tssa.update` announces. They are
    *passed down* to whoever reads the storage later, through whichever view: a
    read becomes the `tssa.access`es of its own path from the root. All tensors
    become `!torch.vtensor`. For each argument that is written, its final contents
    become one more result, with the attribute `tssa.writeback`.

    Between this pass and `--tssa-rename` a use of the root's value means its
    newest version. Programs in which a write would be seen through a name that is
    one of several tensors are rejected (`TensorAliasAnalysis::verifyMerges`).

    Before:
    ```mlir
    %row = torch.aten.select.int %b, %dim, %i : !torch.tensor<[4,3],f32>, ... -> !torch.tensor<[3],f32>
    %w = torch.aten.add_.Scalar %row, %one, %one : ...
    ```
    After:
    ```mlir
    %row = tssa.access "torch.aten.select.int" %b[%dim, %i] : ...
    %new = torch.aten.add.Scalar %row, %one, %one : ...
    %b1 = tssa.assign "torch.aten.select.int" %b, %new[%dim, %i] : ...
    tssa.update %b1 of %b
    ```
  }];
  let dependentDialects = [
    "::ssa_compiler::tssa::TSSADialect", "::ssa_compiler::torch::TorchDialect"
  ];
}

def TSSABlockPropagationPass
    : Pass<"tssa-block-propagation", "::mlir::func::FuncOp"> {
  let summary = "[tensorssa] carry updates across the regions of scf ops";
  let description = [{
    A storage that a region updates and that was there before the region op gets a
    result of that op, and in loops a carried value. Updates at the start of the
    region and after the op say which versions these are. Inner region ops come
    before the ones around them.

    Before:
    ```mlir
    scf.if %c {
      ...
      tssa.update %b1 of %b : !torch.vtensor<[4],f32>
    }
    ```
    After:
    ```mlir
    %r = scf.if %c -> (!torch.vtensor<[4],f32>) {
      ...
      tssa.update %b1 of %b : !torch.vtensor<[4],f32>
      scf.yield %b : !torch.vtensor<[4],f32>
    } else {
      scf.yield %b : !torch.vtensor<[4],f32>
    }
    tssa.update %r of %b : !torch.vtensor<[4],f32>
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def TSSARenamePass : Pass<"tssa-rename", "::mlir::func::FuncOp"> {
  let summary = "[tensorssa] use the newest version of each storage";
  let description = [{
    Each use of a storage's root that an update dominates becomes a use of the
    value that the last such update announces. Requires `--tssa-block-propagation`:
    an update inside a region that has no counterpart after it is an error.
  }];
}

def TSSARemoveUpdatePass : Pass<"tssa-remove-update", "::mlir::func::FuncOp"> {
  let summary = "[tensorssa] erase tssa.update";
  let description = [{
    After renaming, updates say nothing that the uses do not. The program is then
    in TensorSSA form.
  }];
}

def TSSAPromoteSlotsPass : Pass<"tssa-promote-slots", "::mlir::func::FuncOp"> {
  let summary = "[tensorssa] carry constant slots of a tensor instead of the tensor";
  let description = [{
    Where a loop reads and writes a carried tensor only through views with constant
    operands that are equal or disjoint (the slots `h[0]`, `h[1]`, ... of a state
    tensor), each slot is carried as a value of its own; the tensor is put together
    after the loop. Inside the loop a store to a slot and the read of it are then no
    memory traffic. Does nothing for tensors with any other use in the loop.

    Before:
    ```mlir
    %r = scf.for ... iter_args(%h = %h0) -> (!torch.vtensor<[2,3],f32>) {
      %0 = tssa.access "torch.aten.select.int" %h[%dim, %one : ...] : ...
      %1 = torch.aten.tanh %0 : ...
      %2 = tssa.assign "torch.aten.select.int" %h, %1[%dim, %one : ...] : ...
      scf.yield %2 : !torch.vtensor<[2,3],f32>
    }
    ```
    After:
    ```mlir
    %s = tssa.access "torch.aten.select.int" %h0[%dim, %one : ...] : ...
    %l = scf.for ... iter_args(%0 = %s) -> (!torch.vtensor<[3],f32>) {
      %1 = torch.aten.tanh %0 : ...
      scf.yield %1 : !torch.vtensor<[3],f32>
    }
    %r = tssa.assign "torch.aten.select.int" %h0, %l[%dim, %one : ...] : ...
    ```
  }];
  let dependentDialects = [
    "::mlir::scf::SCFDialect", "::ssa_compiler::tssa::TSSADialect"
  ];
  let statistics = [
    Statistic<"numPromoted", "slots", "slots that became carried values">
  ];
}

def TSSAAnnotateCopiesPass : Pass<"tssa-annotate-copies", "::mlir::func::FuncOp"> {
  let summary = "[tensorssa] annotate each version that must be copied with its reader";
  let description = [{
    Runs on TensorSSA form (after `--tssa-remove-update`). A `tssa.assign` through a
    view that leaves some of its base as it is reuses the buffer of the base; so does
    whatever forwards a version to where that happens: the start of a loop, the end
    of a region, a result of the function, which is the caller's to write. Where
    the version is still needed after that, the op gets the attribute `tssa.copies`,
    with the operand and the reason: a later reader and its line, the next iteration,
    a caller that keeps the argument, a constant, a second name for the same version.
    Each annotation stands for one copy; all other assigns are in place (docs/Report.md).

    Before: `%b1 = tssa.assign "torch.aten.select.int" %b, %row[%dim, %i] : ...`, and
    `%s = torch.aten.sum %b, ...` after it
    After: the same with the attribute `tssa.copies`, which says `operand = 0` and
    `reason = "it is read later (file.py:12)"`
  }];
  let dependentDialects = [
    "::ssa_compiler::torch::TorchDialect", "::mlir::arith::ArithDialect"
  ];
  let statistics = [
    Statistic<"numCopies", "copies", "versions that must be copied">
  ];
}

def TSSALowerPass : Pass<"tssa-lower", "::mlir::func::FuncOp"> {
  let summary = "[tensorssa] lower tssa.access and tssa.assign to torch ops";
  let description = [{
    Asks the model of each view (`TorchViewOpInterface`) for the torch ops that read
    the view and that rebuild its base.

    Before: `tssa.assign "torch.aten.select.int" %b, %new[%dim, %i] : ...`
    After: `torch.aten.select_scatter %b, %new, %dim, %i : ...`
  }];
  let dependentDialects = ["::ssa_compiler::torch::TorchDialect"];
}

def TorchSimplifyPass : Pass<"torch-simplify", "::mlir::func::FuncOp"> {
  let summary = "[tensorssa] remove torch ops that do nothing on immutable tensors";
  let description = [{
    `aten.clone` of an immutable tensor, `aten.copy` of a tensor of the same type,
    and casts to the same type are their operand. Also runs the folders and
    canonicalizations of all ops.
  }];
}

def RemoveRedundantAssertsPass
    : Pass<"remove-redundant-asserts", "::mlir::func::FuncOp"> {
  let summary = "[tensorssa] check each condition once";
  let description = [{
    Erases a `cf.assert` whose condition, the same value, an assertion that dominates
    it has checked. Lowers the scalar ops in each iteration of a loop that reads and
    writes one slot.

    Before: `cf.assert %ok, "m"` and later in the block `cf.assert %ok, "n"`
    After: `cf.assert %ok, "m"`
  }];
}

def VerifyValueSemanticsPass
    : Pass<"verify-value-semantics", "::mlir::ModuleOp"> {
  let summary = "[tensorssa] check that nothing mutable and no tssa op is left";
  let description = [{
    Fails, with one error for each, on values of type `!torch.tensor`, on ops whose
    schema says that they write, and on ops of the tssa dialect.
  }];
}

#endif // SSA_COMPILER_TRANSFORMS_PASSES_TD
