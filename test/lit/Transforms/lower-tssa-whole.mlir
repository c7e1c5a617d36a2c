// Writes through views that show the whole base: the base is what was written, in its own type.
// RUN: ssa-opt --tssa-lower %s | FileCheck %s

// CHECK-LABEL: func.func @same_type(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-NEXT: return %[[ARG1]]
func.func @same_type(%b: !torch.vtensor<[4],f32>, %s: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %w = tssa.assign "torch.aten.detach" %b, %s : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>
  return %w : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @other_type(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[?],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK: %[[CAST:.+]] = torch.tensor_static_info_cast %[[ARG1]] : !torch.vtensor<[4],f32> to !torch.vtensor<[?],f32>
// CHECK: return %[[CAST]]
func.func @other_type(%b: !torch.vtensor<[?],f32>, %s: !torch.vtensor<[4],f32>) -> !torch.vtensor<[?],f32> {
  %w = tssa.assign "torch.tensor_static_info_cast" %b, %s : !torch.vtensor<[?],f32>, !torch.vtensor<[4],f32>
  return %w : !torch.vtensor<[?],f32>
}
