// Each kind of what must not be left fails the pass, and nothing is printed for it.
// RUN: not ssa-opt --verify-value-semantics %s --split-input-file 2>/dev/null | FileCheck %s --allow-empty
// CHECK-NOT: func.func

func.func @mutable_tensor(%x: !torch.tensor<[4],f32>) {
  return
}

// -----

func.func @tssa_op(%x: !torch.vtensor<[4],f32>) {
  tssa.update %x of %x : !torch.vtensor<[4],f32>
  return
}

// -----

func.func @op_that_writes(%l: !torch.list<int>, %i: !torch.int) {
  %r = torch.aten.append.t %l, %i : !torch.list<int>, !torch.int -> !torch.list<int>
  return
}
