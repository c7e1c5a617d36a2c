// The shape of whole programs after conversion: loops stay loops, branches branches,
// and nothing mutable is left.
// RUN: ssa-opt --torch-to-scf --convert-to-tensorssa %s | FileCheck %s

// if i >= 0: b[i] = a[i]
// CHECK-LABEL: func.func @write_under_branch(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-NOT: !torch.tensor
// CHECK: %[[IF:.+]] = scf.if %{{.+}} -> (!torch.vtensor<[4,3],f32>) {
// CHECK: cf.assert %{{.+}}, "IndexError: index is out of bounds for dimension 0 with size 4
// CHECK: %[[SELECT:.+]] = torch.aten.select.int %[[ARG1]], %int0, %{{.+}}
// The index is the same, and checked once.
// CHECK-NOT: cf.assert
// CHECK: %[[SELECT_SCATTER:.+]] = torch.aten.select_scatter %[[ARG0]], %[[SELECT]], %int0, %{{.+}}
// CHECK: scf.yield %[[SELECT_SCATTER]] : !torch.vtensor<[4,3],f32>
// CHECK: scf.yield %[[ARG0]] : !torch.vtensor<[4,3],f32>
// CHECK-NOT: !torch.tensor
// CHECK: return %[[IF]], %[[IF]]
func.func @write_under_branch(%b: !torch.tensor<[4,3],f32>, %a: !torch.tensor<[4,3],f32>, %i: !torch.int) -> !torch.tensor<[4,3],f32> {
  %false = torch.constant.bool false
  %int0 = torch.constant.int 0
  %p = torch.aten.ge.int %i, %int0 : !torch.int, !torch.int -> !torch.bool
  torch.prim.If %p -> () {
    %row = torch.aten.select.int %a, %int0, %i : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
    %slot = torch.aten.select.int %b, %int0, %i : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
    %w = torch.aten.copy_ %slot, %row, %false : !torch.tensor<[3],f32>, !torch.tensor<[3],f32>, !torch.bool -> !torch.tensor<[3],f32>
    torch.prim.If.yield
  } else {
    torch.prim.If.yield
  }
  return %b : !torch.tensor<[4,3],f32>
}

// A view taken before a branch that holds a loop that writes it, and read after both.
// CHECK-LABEL: func.func @view_before_branch_with_loop(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %{{[a-z0-9]+}}: i64
// CHECK-SAME: %[[ARG2:[a-z0-9]+]]: i1
// CHECK-SAME: %[[ARG3:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-NOT: !torch.tensor
// CHECK: %[[IF:.+]] = scf.if %[[ARG2]] -> (!torch.vtensor<[4,3],f32>) {
// CHECK: %[[SELECT:.+]] = torch.aten.select.int %[[ARG0]], %int0, %int1
// CHECK: %[[FOR:.+]] = scf.for %[[IV:.+]] = %{{.+}} to %{{.+}} step %{{.+}} iter_args(%[[CARRIED:.+]] = %[[SELECT]]) -> (!torch.vtensor<[3],f32>) {
// CHECK: %[[SELECT_2:.+]] = torch.aten.select.int %[[ARG3]], %int0, %{{.+}}
// CHECK: %[[ADD:.+]] = torch.aten.add.Tensor %[[CARRIED]], %[[SELECT_2]], %int1
// CHECK: scf.yield %[[ADD]] : !torch.vtensor<[3],f32>
// CHECK: %[[SELECT_SCATTER:.+]] = torch.aten.select_scatter %[[ARG0]], %[[FOR]], %int0, %int1
// CHECK: scf.yield %[[SELECT_SCATTER]] : !torch.vtensor<[4,3],f32>
// CHECK: scf.yield %[[ARG0]] : !torch.vtensor<[4,3],f32>
// CHECK: %[[SELECT_3:.+]] = torch.aten.select.int %[[IF]], %int0, %int1
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[SELECT_3]]
// CHECK-NOT: !torch.tensor
func.func @view_before_branch_with_loop(%x: !torch.tensor<[4,3],f32>, %n: !torch.int, %p: !torch.bool, %y: !torch.tensor<[4,3],f32>) -> !torch.tensor<[3],f32> {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %true = torch.constant.bool true
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %a = torch.aten.clone %x, %none : !torch.tensor<[4,3],f32>, !torch.none -> !torch.tensor<[4,3],f32>
  %row = torch.aten.select.int %a, %int0, %int1 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
  torch.prim.If %p -> () {
    torch.prim.Loop %n, %true, init() {
    ^bb0(%i: !torch.int):
      %r = torch.aten.select.int %y, %int0, %i : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
      %w = torch.aten.add_.Tensor %row, %r, %int1 : !torch.tensor<[3],f32>, !torch.tensor<[3],f32>, !torch.int -> !torch.tensor<[3],f32>
      torch.prim.Loop.condition %true, iter()
    } : (!torch.int, !torch.bool) -> ()
    torch.prim.If.yield
  } else {
    torch.prim.If.yield
  }
  %neg = torch.aten.neg %row : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  return %neg : !torch.tensor<[3],f32>
}

// Two views that overlap: the second write lands on what the first one left.
// CHECK-LABEL: func.func @overlapping_slices(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-NOT: !torch.tensor
// CHECK: %[[SLICE:.+]] = torch.aten.slice.Tensor %[[ARG0]], %int0, %int0, %int2, %int1
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[SLICE]]
// CHECK: %[[SLICE_SCATTER:.+]] = torch.aten.slice_scatter %[[ARG0]], %[[NEG]], %int0, %int0, %int2, %int1
// CHECK: %[[SLICE_2:.+]] = torch.aten.slice.Tensor %[[SLICE_SCATTER]], %int0, %int1, %int3, %int1
// CHECK: %[[ABS:.+]] = torch.aten.abs %[[SLICE_2]]
// CHECK: %[[SLICE_SCATTER_2:.+]] = torch.aten.slice_scatter %[[SLICE_SCATTER]], %[[ABS]], %int0, %int1, %int3, %int1
// CHECK-NOT: !torch.tensor
// CHECK: return %[[SLICE_SCATTER_2]]
func.func @overlapping_slices(%x: !torch.tensor<[4],f32>) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %a = torch.aten.slice.Tensor %x, %int0, %int0, %int2, %int1 : !torch.tensor<[4],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.tensor<[2],f32>
  %b = torch.aten.slice.Tensor %x, %int0, %int1, %int3, %int1 : !torch.tensor<[4],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.tensor<[2],f32>
  %w = torch.aten.neg_ %a : !torch.tensor<[2],f32> -> !torch.tensor<[2],f32>
  %v = torch.aten.abs_ %b : !torch.tensor<[2],f32> -> !torch.tensor<[2],f32>
  return
}

// A while loop whose condition reads what its body writes.
// CHECK-LABEL: func.func @while_reads_written_tensor(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[],f32>
// CHECK-NOT: !torch.tensor
// CHECK: %[[WHILE:.+]]:2 = scf.while (%[[CARRIED:.+]] = %{{.+}}, %[[CARRIED_2:.+]] = %true, %[[CARRIED_3:.+]] = %[[ARG0]]) : (i64, i1, !torch.vtensor<[],f32>) -> (i64, !torch.vtensor<[],f32>) {
// CHECK: scf.condition(%{{.+}}) %[[CARRIED]], %[[CARRIED_3]] : i64, !torch.vtensor<[],f32>
// CHECK: ^bb{{[0-9]+}}(%[[ARG:.+]]: i64, %[[ARG_2:.+]]: !torch.vtensor<[],f32>):
// CHECK: %[[SUB:.+]] = torch.aten.sub.Scalar %[[ARG_2]], %int1, %int1
// CHECK: %[[BOOL:.+]] = torch.aten.Bool.Tensor %[[SUB]]
// CHECK: scf.yield %{{.+}}, %{{.+}}, %[[SUB]] : i64, i1, !torch.vtensor<[],f32>
// CHECK-NOT: !torch.tensor
// CHECK: return %[[WHILE]]#1
func.func @while_reads_written_tensor(%x: !torch.tensor<[],f32>, %n: !torch.int) {
  %true = torch.constant.bool true
  %int1 = torch.constant.int 1
  torch.prim.Loop %n, %true, init() {
  ^bb0(%i: !torch.int):
    %w = torch.aten.sub_.Scalar %x, %int1, %int1 : !torch.tensor<[],f32>, !torch.int, !torch.int -> !torch.tensor<[],f32>
    %goOn = torch.aten.Bool.Tensor %x : !torch.tensor<[],f32> -> !torch.bool
    torch.prim.Loop.condition %goOn, iter()
  } : (!torch.int, !torch.bool) -> ()
  return
}

// Masked and indexed writes have functional forms; the list of indices is an operand.
// CHECK-LABEL: func.func @index_put(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[2],si64>
// CHECK-SAME: %[[ARG2:[a-z0-9]+]]: !torch.vtensor<[2],f32>
// CHECK-SAME: %[[ARG3:[a-z0-9]+]]: !torch.vtensor<[4],i1>
// CHECK-NOT: !torch.tensor
// CHECK: %[[LISTCONSTRUCT:.+]] = torch.prim.ListConstruct %[[ARG1]]
// CHECK: %[[INDEX_PUT:.+]] = torch.aten.index_put %[[ARG0]], %[[LISTCONSTRUCT]], %[[ARG2]], %false
// CHECK: %[[MASKED_FILL:.+]] = torch.aten.masked_fill.Scalar %[[INDEX_PUT]], %[[ARG3]], %int0
// CHECK-NOT: !torch.tensor
// CHECK: return %[[MASKED_FILL]]
func.func @index_put(%x: !torch.tensor<[4],f32>, %i: !torch.tensor<[2],si64>, %v: !torch.tensor<[2],f32>, %m: !torch.tensor<[4],i1>) {
  %false = torch.constant.bool false
  %int0 = torch.constant.int 0
  %list = torch.prim.ListConstruct %i : (!torch.tensor<[2],si64>) -> !torch.list<optional<tensor>>
  %w = torch.aten.index_put_ %x, %list, %v, %false : !torch.tensor<[4],f32>, !torch.list<optional<tensor>>, !torch.tensor<[2],f32>, !torch.bool -> !torch.tensor<[4],f32>
  %u = torch.aten.masked_fill_.Scalar %x, %m, %int0 : !torch.tensor<[4],f32>, !torch.tensor<[4],i1>, !torch.int -> !torch.tensor<[4],f32>
  return
}

// A write that nobody sees is gone.
// CHECK-LABEL: func.func @dead_write(
// CHECK-NOT: neg
// CHECK: return
func.func @dead_write(%x: !torch.tensor<[4],f32>) {
  %none = torch.constant.none
  %c = torch.aten.clone %x, %none : !torch.tensor<[4],f32>, !torch.none -> !torch.tensor<[4],f32>
  %w = torch.aten.neg_ %c : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  return
}

// A small branch between values stays right as a branch or as a select.
// CHECK-LABEL: func.func @branch_between_new_tensors(
// CHECK-SAME: %{{[a-z0-9]+}}: !torch.vtensor<[4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i1
// CHECK-NOT: !torch.tensor
// CHECK: %[[IF:.+]] = scf.if %[[ARG1]] -> (!torch.vtensor<[4],f32>) {
// CHECK: scf.yield %{{.+}} : !torch.vtensor<[4],f32>
// CHECK: scf.yield %{{.+}} : !torch.vtensor<[4],f32>
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[IF]]
// CHECK-NOT: !torch.tensor
func.func @branch_between_new_tensors(%x: !torch.tensor<[4],f32>, %p: !torch.bool) -> !torch.tensor<[4],f32> {
  %r = torch.prim.If %p -> (!torch.tensor<[4],f32>) {
    %a = torch.aten.abs %x : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
    torch.prim.If.yield %a : !torch.tensor<[4],f32>
  } else {
    %b = torch.aten.relu %x : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
    torch.prim.If.yield %b : !torch.tensor<[4],f32>
  }
  %w = torch.aten.neg_ %r : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  return %r : !torch.tensor<[4],f32>
}
