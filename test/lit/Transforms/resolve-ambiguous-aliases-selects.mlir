// A select of tensors is an ambiguous alias like a branch that yields one of them.
// RUN: ssa-opt --tssa-resolve-ambiguous-aliases %s | FileCheck %s

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
// CHECK-LABEL: func.func @list_of_an_alias(
// CHECK: torch.aten.neg_
// CHECK-NOT: torch.prim.ListConstruct
// CHECK: torch.aten.copy_
// CHECK: %[[LIST:.+]] = torch.prim.ListConstruct
// CHECK: torch.aten.cat %[[LIST]]
// CHECK-NOT: torch.prim.ListConstruct
// CHECK: return
func.func @list_of_an_alias(%a: !torch.tensor<[3],f32>, %b: !torch.tensor<[3],f32>, %c: i1) -> !torch.tensor<[6],f32> {
  %int0 = torch.constant.int 0
  %v = arith.select %c, %a, %b : !torch.tensor<[3],f32>
  %list = torch.prim.ListConstruct %v, %v : (!torch.tensor<[3],f32>, !torch.tensor<[3],f32>) -> !torch.list<tensor<[3],f32>>
  %w = torch.aten.neg_ %v : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  %r = torch.aten.cat %list, %int0 : !torch.list<tensor<[3],f32>>, !torch.int -> !torch.tensor<[6],f32>
  return %r : !torch.tensor<[6],f32>
}

// A view of an ambiguous alias is taken of each candidate where it is used: after the branch that chooses, one to read and one to
// store. None is taken of a copy of the ambiguous alias.
// CHECK-LABEL: func.func @view_of_an_alias(
// CHECK-COUNT-3: scf.if
// CHECK-NOT: scf.if
// CHECK: return
func.func @view_of_an_alias(%a: !torch.tensor<[3],f32>, %b: !torch.tensor<[3],f32>, %c: i1) {
  %int0 = torch.constant.int 0
  %v = arith.select %c, %a, %b : !torch.tensor<[3],f32>
  %x = torch.aten.select.int %v, %int0, %int0 : !torch.tensor<[3],f32>, !torch.int, !torch.int -> !torch.tensor<[],f32>
  %w = torch.aten.neg_ %x : !torch.tensor<[],f32> -> !torch.tensor<[],f32>
  return
}

// An ambiguous alias of an ambiguous alias: its tag follows from the inner one's, and the view between them is part of the path.
// CHECK-LABEL: func.func @alias_of_a_view_of_an_alias(
// CHECK-SAME: %[[A:[a-z0-9]+]]: !torch.tensor<[2,3],f32>, %[[B:[a-z0-9]+]]: !torch.tensor<[2,3],f32>, %[[D:[a-z0-9]+]]: !torch.tensor<[3],f32>
// CHECK: %[[IS_ONE:.+]] = arith.cmpi eq, %{{.+}}, %c1_i64{{.*}} : i64
// CHECK: arith.select %[[IS_ONE]], %c1_i64{{.*}}, %c0_i64{{.*}} : i64
// CHECK: torch.aten.select.int %[[A]], %{{.+}} -> !torch.tensor<[3],f32>
// CHECK: torch.aten.select.int %[[B]], %{{.+}} -> !torch.tensor<[3],f32>
// CHECK: torch.aten.clone %[[D]]
// CHECK: torch.aten.neg_
// CHECK: torch.aten.select.int %[[A]]
// CHECK: torch.aten.copy_
// CHECK: torch.aten.select.int %[[B]]
// CHECK: torch.aten.copy_
// CHECK: torch.aten.copy_ %[[D]]
func.func @alias_of_a_view_of_an_alias(%a: !torch.tensor<[2,3],f32>, %b: !torch.tensor<[2,3],f32>, %d: !torch.tensor<[3],f32>, %c: i1, %e: i1) {
  %int0 = torch.constant.int 0
  %w = scf.if %e -> (!torch.tensor<[3],f32>) {
    %v = scf.if %c -> (!torch.tensor<[2,3],f32>) {
      scf.yield %a : !torch.tensor<[2,3],f32>
    } else {
      scf.yield %b : !torch.tensor<[2,3],f32>
    }
    %x = torch.aten.select.int %v, %int0, %int0 : !torch.tensor<[2,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
    scf.yield %x : !torch.tensor<[3],f32>
  } else {
    scf.yield %d : !torch.tensor<[3],f32>
  }
  %n = torch.aten.neg_ %w : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  return
}
