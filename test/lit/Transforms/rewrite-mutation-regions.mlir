// Views that are taken outside of a region and read in several.
// RUN: ssa-opt --tssa-rewrite-mutation %s | FileCheck %s

// Each branch accesses the view for itself: what one made does not dominate the other.
// CHECK-LABEL: func.func @view_read_in_both_branches(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK: tssa.update %{{.+}} of %[[ARG0]]
// CHECK: scf.if
// CHECK: %[[THEN:.+]] = tssa.access "torch.aten.select.int" %[[ARG0]]
// CHECK: torch.aten.neg %[[THEN]]
// CHECK: } else {
// CHECK: %[[ELSE:.+]] = tssa.access "torch.aten.select.int" %[[ARG0]]
// CHECK: torch.aten.abs %[[ELSE]]
func.func @view_read_in_both_branches(%a: !torch.tensor<[4,3],f32>, %c: i1) -> !torch.tensor<[3],f32> {
  %int0 = torch.constant.int 0
  %v = torch.aten.select.int %a, %int0, %int0 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
  %w = torch.aten.relu_ %a : !torch.tensor<[4,3],f32> -> !torch.tensor<[4,3],f32>
  %r = scf.if %c -> (!torch.tensor<[3],f32>) {
    %n = torch.aten.neg %v : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
    scf.yield %n : !torch.tensor<[3],f32>
  } else {
    %n = torch.aten.abs %v : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
    scf.yield %n : !torch.tensor<[3],f32>
  }
  return %r : !torch.tensor<[3],f32>
}
