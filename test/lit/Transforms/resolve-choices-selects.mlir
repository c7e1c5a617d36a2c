// A select of tensors is a choice like a branch that yields one of them.
// RUN: ssa-opt --tssa-resolve-choices %s | FileCheck %s

// CHECK-LABEL: func.func @write_through_a_select(
// CHECK-NOT: arith.select {{.*}} : !torch.tensor
// CHECK: scf.if
// CHECK: torch.aten.neg_
// CHECK: torch.aten.copy_
// CHECK: arith.select {{.*}} : i64
func.func @write_through_a_select(%a: !torch.tensor<[3],f32>, %b: !torch.tensor<[3],f32>, %c: i1, %i: i64, %j: i64) -> i64 {
  %v = arith.select %c, %a, %b : !torch.tensor<[3],f32>
  %w = torch.aten.neg_ %v : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  %k = arith.select %c, %i, %j : i64
  return %k : i64
}

// A list is read where it is used: it is made there, and nowhere else.
// CHECK-LABEL: func.func @list_of_a_choice(
// CHECK: torch.aten.neg_
// CHECK-NOT: torch.prim.ListConstruct
// CHECK: torch.aten.copy_
// CHECK: %[[LIST:.+]] = torch.prim.ListConstruct
// CHECK: torch.aten.cat %[[LIST]]
// CHECK-NOT: torch.prim.ListConstruct
// CHECK: return
func.func @list_of_a_choice(%a: !torch.tensor<[3],f32>, %b: !torch.tensor<[3],f32>, %c: i1) -> !torch.tensor<[6],f32> {
  %int0 = torch.constant.int 0
  %v = arith.select %c, %a, %b : !torch.tensor<[3],f32>
  %list = torch.prim.ListConstruct %v, %v : (!torch.tensor<[3],f32>, !torch.tensor<[3],f32>) -> !torch.list<tensor<[3],f32>>
  %w = torch.aten.neg_ %v : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  %r = torch.aten.cat %list, %int0 : !torch.list<tensor<[3],f32>>, !torch.int -> !torch.tensor<[6],f32>
  return %r : !torch.tensor<[6],f32>
}

// A view of a choice is taken of each alternative where it is used: after the branch that chooses, one to read and one to
// store. None is taken of a copy of the choice.
// CHECK-LABEL: func.func @view_of_a_choice(
// CHECK-COUNT-3: scf.if
// CHECK-NOT: scf.if
// CHECK: return
func.func @view_of_a_choice(%a: !torch.tensor<[3],f32>, %b: !torch.tensor<[3],f32>, %c: i1) {
  %int0 = torch.constant.int 0
  %v = arith.select %c, %a, %b : !torch.tensor<[3],f32>
  %x = torch.aten.select.int %v, %int0, %int0 : !torch.tensor<[3],f32>, !torch.int, !torch.int -> !torch.tensor<[],f32>
  %w = torch.aten.neg_ %x : !torch.tensor<[],f32> -> !torch.tensor<[],f32>
  return
}
