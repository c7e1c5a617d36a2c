// An update whose value is a storage's root announces the newest version of that storage.
// RUN: ssa-opt --tssa-rename %s | FileCheck %s

// CHECK-LABEL: func.func @version_of_another_storage(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>, %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[ARG0]]
// CHECK: tssa.update %[[NEG]] of %[[ARG1]]
// CHECK: return %[[NEG]]
func.func @version_of_another_storage(%a: !torch.vtensor<[4],f32>, %b: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %n = torch.aten.neg %a : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  tssa.update %n of %a : !torch.vtensor<[4],f32>
  tssa.update %a of %b : !torch.vtensor<[4],f32>
  return %b : !torch.vtensor<[4],f32>
}
