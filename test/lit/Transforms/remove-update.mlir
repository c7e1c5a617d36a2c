// After renaming, updates are only erased.
// RUN: ssa-opt --tssa-remove-update %s | FileCheck %s

// Also in regions; everything else stays.
// CHECK-LABEL: func.func @updates_vanish(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i1
// CHECK-NOT: tssa.update
// CHECK: %[[IF:.+]] = scf.if %[[ARG1]] -> (!torch.vtensor<[4],f32>) {
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[ARG0]]
// CHECK: scf.yield %[[NEG]] : !torch.vtensor<[4],f32>
// CHECK: scf.yield %[[ARG0]] : !torch.vtensor<[4],f32>
// CHECK-NOT: tssa.update
// CHECK: return %[[IF]]
func.func @updates_vanish(%b: !torch.vtensor<[4],f32>, %c: i1) -> !torch.vtensor<[4],f32> {
  %r = scf.if %c -> (!torch.vtensor<[4],f32>) {
    %b1 = torch.aten.neg %b : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
    tssa.update %b1 of %b : !torch.vtensor<[4],f32>
    scf.yield %b1 : !torch.vtensor<[4],f32>
  } else {
    scf.yield %b : !torch.vtensor<[4],f32>
  }
  tssa.update %r of %b : !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}
