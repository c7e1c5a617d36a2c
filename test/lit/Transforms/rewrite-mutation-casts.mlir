// The ops between the two kinds of tensors, with writes on both sides.
// RUN: ssa-opt --tssa-rewrite-mutation %s | FileCheck %s

// The value is what the tensor holds at the copy, not what is written later.
// CHECK-LABEL: func.func @value_of_a_written_tensor(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK: %[[CLONE:.+]] = torch.aten.clone %[[ARG0]]
// CHECK: %[[BEFORE:.+]] = torch.tensor_static_info_cast %[[CLONE]]
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[CLONE]]
// CHECK: tssa.update %[[NEG]] of %[[CLONE]]
// CHECK: %[[SUM:.+]] = torch.aten.add.Tensor %[[BEFORE]], %[[BEFORE]]
// CHECK: return %[[SUM]]
func.func @value_of_a_written_tensor(%a: !torch.tensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %none = torch.constant.none
  %int1 = torch.constant.int 1
  %t = torch.aten.clone %a, %none : !torch.tensor<[4],f32>, !torch.none -> !torch.tensor<[4],f32>
  %v = torch.copy.to_vtensor %t : !torch.vtensor<[4],f32>
  %w = torch.aten.neg_ %t : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  %s = torch.aten.add.Tensor %v, %v, %int1 : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],f32>
  return %s : !torch.vtensor<[4],f32>
}

// A tensor of unknown dtype keeps it, for all that is known.
// CHECK-LABEL: func.func @unknown_dtype(
// CHECK: torch.aten.add.Scalar {{.*}} : !torch.vtensor<[4],unk>
// CHECK-NOT: functionalized
// CHECK: return
func.func @unknown_dtype(%a: !torch.tensor<[4],unk>) {
  %int1 = torch.constant.int 1
  %w = torch.aten.add_.Scalar %a, %int1, %int1 : !torch.tensor<[4],unk>, !torch.int, !torch.int -> !torch.tensor<[4],unk>
  return
}
