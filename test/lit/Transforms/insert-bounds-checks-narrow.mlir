// A narrow whose range is known to be right needs no check; one that is known to be wrong raises when it runs.
// RUN: ssa-opt --torch-insert-bounds-checks %s | FileCheck %s

// CHECK-LABEL: func.func @up_to_the_end(
// CHECK-NOT: cf.assert
// CHECK: return
func.func @up_to_the_end(%a: !torch.tensor<[4,3],f32>) -> !torch.tensor<[2,3],f32> {
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  %r = torch.aten.narrow %a, %int0, %int2, %int2 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int, !torch.int -> !torch.tensor<[2,3],f32>
  return %r : !torch.tensor<[2,3],f32>
}

// CHECK-LABEL: func.func @beyond_the_end(
// CHECK: cf.assert %{{.+}}, "RuntimeError: start + length exceeds dimension 0 with size 4
func.func @beyond_the_end(%a: !torch.tensor<[4,3],f32>) -> !torch.tensor<[2,3],f32> {
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %r = torch.aten.narrow %a, %int0, %int3, %int2 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int, !torch.int -> !torch.tensor<[2,3],f32>
  return %r : !torch.tensor<[2,3],f32>
}

// CHECK-LABEL: func.func @nothing_from_the_start(
// CHECK-NOT: cf.assert
// CHECK: return
func.func @nothing_from_the_start(%a: !torch.tensor<[4,3],f32>) -> !torch.tensor<[0,3],f32> {
  %int0 = torch.constant.int 0
  %int-4 = torch.constant.int -4
  %r = torch.aten.narrow %a, %int0, %int-4, %int0 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int, !torch.int -> !torch.tensor<[0,3],f32>
  return %r : !torch.tensor<[0,3],f32>
}
