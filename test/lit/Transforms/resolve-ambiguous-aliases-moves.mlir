// What leaves a region in an ambiguous alias: the tensor that the inner one is at that moment, not the inner one's own storage.
// RUN: ssa-opt --tssa-resolve-ambiguous-aliases %s | FileCheck %s

// CHECK-LABEL: func.func @inner_alias_leaves(
// CHECK: %[[T:.+]] = torch.aten.neg %arg0
// CHECK: %[[INNER:.+]]:2 = scf.if %arg2
// The contents of the candidate that the inner tag names go out with the outer tag.
// CHECK: torch.aten.add_.Scalar
// CHECK: scf.if %{{.+}} {
// CHECK: torch.aten.copy_ %[[T]]
// CHECK: arith.select
// CHECK: %[[IS_T:.+]] = arith.cmpi eq, %[[INNER]]#1
// CHECK: %[[NOW:.+]] = scf.if %[[IS_T]]
// CHECK-NEXT: torch.constant.none
// CHECK-NEXT: torch.aten.clone %[[T]]
// CHECK: torch.aten.clone %arg0
// CHECK: %[[OUT:.+]] = torch.aten.clone %[[NOW]]
// CHECK: scf.yield %[[OUT]], %{{.+}} : !torch.tensor<[3],f32>, i64
func.func @inner_alias_leaves(%x: !torch.tensor<[3],f32>, %c: i1, %d: i1) -> !torch.tensor<[3],f32> {
  %int1 = torch.constant.int 1
  %a = scf.if %c -> !torch.tensor<[3],f32> {
    %t = torch.aten.neg %x : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
    %u = scf.if %d -> !torch.tensor<[3],f32> {
      scf.yield %t : !torch.tensor<[3],f32>
    } else {
      scf.yield %x : !torch.tensor<[3],f32>
    }
    %w = torch.aten.add_.Scalar %u, %int1, %int1 : !torch.tensor<[3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
    scf.yield %u : !torch.tensor<[3],f32>
  } else {
    scf.yield %x : !torch.tensor<[3],f32>
  }
  %w = torch.aten.add_.Scalar %a, %int1, %int1 : !torch.tensor<[3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
  return %a : !torch.tensor<[3],f32>
}

// The second result is written under no name of its own. But what the first one writes is one of its candidates, so that
// it becomes an ambiguous alias as well, and is read after the write.
// CHECK-LABEL: func.func @drawn_in(
// CHECK: %[[R:.+]]:4 = scf.if %arg0
// CHECK: torch.aten.zero_
// CHECK: arith.cmpi eq, %[[R]]#2
// CHECK: torch.aten.copy_
// CHECK: arith.cmpi eq, %[[R]]#3
// CHECK: torch.aten.neg
func.func @drawn_in(%c: i1, %y: !torch.vtensor<[3],f32>) -> !torch.tensor<[3],f32> {
  %s = torch.copy.to_tensor %y : !torch.tensor<[3],f32>
  %t = torch.copy.to_tensor %y : !torch.tensor<[3],f32>
  %r:2 = scf.if %c -> (!torch.tensor<[3],f32>, !torch.tensor<[3],f32>) {
    scf.yield %s, %t : !torch.tensor<[3],f32>, !torch.tensor<[3],f32>
  } else {
    scf.yield %t, %s : !torch.tensor<[3],f32>, !torch.tensor<[3],f32>
  }
  %w = torch.aten.zero_ %r#0 : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  %sum = torch.aten.neg %s : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  %n = torch.aten.neg %r#1 : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  return %n : !torch.tensor<[3],f32>
}
