// Writes through views that show an element several times: what is written has
// to reach the first of its repetitions, which is what the assign stores.
// RUN: ssa-opt --tssa-rewrite-mutation --tssa-lower %s | FileCheck %s

// CHECK-LABEL: func.func @first_row(
// CHECK-SAME: %[[A:.+]]: !torch.vtensor<[1,5],f32>
func.func @first_row(%a: !torch.tensor<[1,5],f32>, %s: !torch.vtensor<[5],f32>) {
  %false = torch.constant.bool false
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %int5 = torch.constant.int 5
  %sizes = torch.prim.ListConstruct %int3, %int5 : (!torch.int, !torch.int) -> !torch.list<int>
  %e = torch.aten.expand %a, %sizes, %false : !torch.tensor<[1,5],f32>, !torch.list<int>, !torch.bool -> !torch.tensor<[3,5],f32>
  // CHECK: %[[E:.+]] = torch.aten.expand %[[A]]
  // CHECK: %[[ROW:.+]] = torch.aten.select.int %[[E]]
  // CHECK: %[[NEW:.+]] = torch.aten.neg %[[ROW]]
  // CHECK: %[[ROWS:.+]] = torch.aten.select_scatter %[[E]], %[[NEW]]
  // CHECK: %[[FIRST:.+]] = torch.aten.slice.Tensor %[[ROWS]], %int0{{.*}}, %int0{{.*}}, %int1{{.*}}, %int1{{.*}} -> !torch.vtensor<[1,5],f32>
  // CHECK: tssa.update %[[FIRST]] of %[[A]]
  %row = torch.aten.select.int %e, %int0, %int0 : !torch.tensor<[3,5],f32>, !torch.int, !torch.int -> !torch.tensor<[5],f32>
  %w = torch.aten.neg_ %row : !torch.tensor<[5],f32> -> !torch.tensor<[5],f32>
  return
}

// Dimensions are followed through views that move and drop them.
// CHECK-LABEL: func.func @moved(
// CHECK: torch.aten.slice.Tensor {{.*}} -> !torch.vtensor<[1,5],f32>
// CHECK: tssa.update
func.func @moved(%a: !torch.tensor<[1,5],f32>) {
  %false = torch.constant.bool false
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %int5 = torch.constant.int 5
  %sizes = torch.prim.ListConstruct %int3, %int5 : (!torch.int, !torch.int) -> !torch.list<int>
  %e = torch.aten.expand %a, %sizes, %false : !torch.tensor<[1,5],f32>, !torch.list<int>, !torch.bool -> !torch.tensor<[3,5],f32>
  %order = torch.prim.ListConstruct %int1, %int0 : (!torch.int, !torch.int) -> !torch.list<int>
  %p = torch.aten.permute %e, %order : !torch.tensor<[3,5],f32>, !torch.list<int> -> !torch.tensor<[5,3],f32>
  %u = torch.aten.unsqueeze %p, %int0 : !torch.tensor<[5,3],f32>, !torch.int -> !torch.tensor<[1,5,3],f32>
  %t = torch.aten.transpose.int %u, %int0, %int2 : !torch.tensor<[1,5,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3,5,1],f32>
  %r = torch.aten.slice.Tensor %t, %int0, %int0, %int1, %int1 : !torch.tensor<[3,5,1],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.tensor<[1,5,1],f32>
  %c = torch.aten.select.int %r, %int1, %int3 : !torch.tensor<[1,5,1],f32>, !torch.int, !torch.int -> !torch.tensor<[1,1],f32>
  %w = torch.aten.neg_ %c : !torch.tensor<[1,1],f32> -> !torch.tensor<[1,1],f32>
  return
}

// A dimension that is added.
// CHECK-LABEL: func.func @added(
// CHECK: torch.aten.select.int {{.*}} !torch.vtensor<[2,5],f32>{{.*}} -> !torch.vtensor<[5],f32>
// CHECK: tssa.update
func.func @added(%b: !torch.tensor<[5],f32>) {
  %false = torch.constant.bool false
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  %int5 = torch.constant.int 5
  %sizes = torch.prim.ListConstruct %int2, %int5 : (!torch.int, !torch.int) -> !torch.list<int>
  %e = torch.aten.expand %b, %sizes, %false : !torch.tensor<[5],f32>, !torch.list<int>, !torch.bool -> !torch.tensor<[2,5],f32>
  %t = torch.aten.t %e : !torch.tensor<[2,5],f32> -> !torch.tensor<[5,2],f32>
  %int1 = torch.constant.int 1
  %row = torch.aten.select.int %t, %int1, %int0 : !torch.tensor<[5,2],f32>, !torch.int, !torch.int -> !torch.tensor<[5],f32>
  %w = torch.aten.neg_ %row : !torch.tensor<[5],f32> -> !torch.tensor<[5],f32>
  return
}
