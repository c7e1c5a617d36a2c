// Which results are arguments, views of arguments or one tensor, in every run or in some.
// RUN: ssa-opt --tssa-resolve-ambiguous-aliases --tssa-rewrite-mutation %s | FileCheck %s

// A view of an argument that is returned twice is one tensor.
// CHECK-LABEL: func.func @view_twice(
// CHECK-SAME: -> (!torch.vtensor<[],f32> {tssa.view_of = 0 : i64}, !torch.vtensor<[],f32> {tssa.same_as = 0 : i64, tssa.view_of = 0 : i64})
func.func @view_twice(%x: !torch.tensor<[3],f32>) -> (!torch.tensor<[],f32>, !torch.tensor<[],f32>) {
  %int0 = torch.constant.int 0
  %v = torch.aten.select.int %x, %int0, %int0 : !torch.tensor<[3],f32>, !torch.int, !torch.int -> !torch.tensor<[],f32>
  return %v, %v : !torch.tensor<[],f32>, !torch.tensor<[],f32>
}

// Two views are not one tensor, whatever they show.
// CHECK-LABEL: func.func @two_views(
// CHECK-SAME: -> (!torch.vtensor<[],f32> {tssa.view_of = 0 : i64}, !torch.vtensor<[],f32> {tssa.view_of = 0 : i64})
func.func @two_views(%x: !torch.tensor<[3],f32>) -> (!torch.tensor<[],f32>, !torch.tensor<[],f32>) {
  %int0 = torch.constant.int 0
  %v = torch.aten.select.int %x, %int0, %int0 : !torch.tensor<[3],f32>, !torch.int, !torch.int -> !torch.tensor<[],f32>
  %w = torch.aten.select.int %x, %int0, %int0 : !torch.tensor<[3],f32>, !torch.int, !torch.int -> !torch.tensor<[],f32>
  return %v, %w : !torch.tensor<[],f32>, !torch.tensor<[],f32>
}

// A snapshot may be the other result, as may what flows into it; two storages never are.
// CHECK-LABEL: func.func @snapshot(
// CHECK-SAME: -> (!torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32> {tssa.may_same_as = [0, 1]}, !torch.vtensor<[3],f32> {tssa.same_as = 2 : i64})
func.func @snapshot(%x: !torch.tensor<[3],f32>, %c: i1) -> (!torch.tensor<[3],f32>, !torch.tensor<[3],f32>, !torch.tensor<[3],f32>, !torch.tensor<[3],f32>) {
  %y = torch.aten.neg %x : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  %z = torch.aten.abs %x : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  %r = scf.if %c -> !torch.tensor<[3],f32> {
    scf.yield %y : !torch.tensor<[3],f32>
  } else {
    scf.yield %z : !torch.tensor<[3],f32>
  }
  return %y, %z, %r, %r : !torch.tensor<[3],f32>, !torch.tensor<[3],f32>, !torch.tensor<[3],f32>, !torch.tensor<[3],f32>
}

// An ambiguous alias, which leaves no trace once it is resolved.
// CHECK-LABEL: func.func @ambiguous(
// CHECK-SAME: -> (!torch.vtensor<[3],f32> {tssa.may_alias = [0]}, !torch.vtensor<[3],f32> {tssa.may_alias = [0], tssa.same_as = 0 : i64}, !torch.vtensor<[3],f32> {tssa.may_same_as = [0, 1]}, !torch.vtensor<[3],f32> {tssa.alias_of = 0 : i64}, !torch.vtensor<[3],f32> {tssa.writeback = 0 : i64})
func.func @ambiguous(%x: !torch.tensor<[3],f32>, %c: i1) -> (!torch.tensor<[3],f32>, !torch.tensor<[3],f32>, !torch.tensor<[3],f32>, !torch.tensor<[3],f32>) {
  %y = torch.aten.neg %x : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  %r = scf.if %c -> !torch.tensor<[3],f32> {
    scf.yield %x : !torch.tensor<[3],f32>
  } else {
    scf.yield %y : !torch.tensor<[3],f32>
  }
  %w = torch.aten.zero_ %r : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  return %r, %r, %y, %x : !torch.tensor<[3],f32>, !torch.tensor<[3],f32>, !torch.tensor<[3],f32>, !torch.tensor<[3],f32>
}
