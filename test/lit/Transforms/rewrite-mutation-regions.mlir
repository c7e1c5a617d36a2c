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

// What the loop writes is read from its root. The carried name yields itself, so that it can be removed: it would be a
// second copy of the storage's version otherwise.
// CHECK-LABEL: func.func @carried_name_of_one_tensor(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK: scf.for {{.*}} iter_args(%[[X:.+]] = %[[ARG0]])
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[ARG0]]
// CHECK: tssa.update %[[NEG]] of %[[ARG0]]
// CHECK: scf.yield %[[X]]
func.func @carried_name_of_one_tensor(%a: !torch.tensor<[4],f32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (!torch.tensor<[4],f32>) {
    %w = torch.aten.neg_ %x : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
    scf.yield %w : !torch.tensor<[4],f32>
  }
  return
}

// Two views of one tensor are two results; one view returned twice is one.
// CHECK-LABEL: func.func @views_as_results(
// CHECK-SAME: -> (!torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32> {tssa.same_as = 1 : i64})
func.func @views_as_results(%a: !torch.tensor<[4,3],f32>) -> (!torch.tensor<[3],f32>, !torch.tensor<[3],f32>, !torch.tensor<[3],f32>) {
  %none = torch.constant.none
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %t = torch.aten.clone %a, %none : !torch.tensor<[4,3],f32>, !torch.none -> !torch.tensor<[4,3],f32>
  %x = torch.aten.select.int %t, %int0, %int0 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
  %y = torch.aten.select.int %t, %int0, %int1 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
  return %x, %y, %y : !torch.tensor<[3],f32>, !torch.tensor<[3],f32>, !torch.tensor<[3],f32>
}

// Arguments that are not used become values too.
// CHECK-LABEL: func.func @unused_arguments(
// CHECK-SAME: %{{[a-z0-9]+}}: !torch.vtensor<[4],f32>, %{{[a-z0-9]+}}: index
// CHECK: scf.for {{.*}} -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>)
func.func @unused_arguments(%a: !torch.tensor<[4],f32>, %n: index, %b: !torch.tensor<[4],f32>, %d: !torch.tensor<[4],f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %b, %y = %d) -> (!torch.tensor<[4],f32>, !torch.tensor<[4],f32>) {
    scf.yield %y, %x : !torch.tensor<[4],f32>, !torch.tensor<[4],f32>
  }
  return
}

// A loop that ends early leaves a variable, and what was assigned to it, side by side: two names that meet again before
// the tensor is written are one.
// CHECK-LABEL: func.func @names_that_meet_again(
// CHECK: %[[LEFT:.+]]:3 = scf.if
// CHECK: %[[MET:.+]] = arith.select %{{.+}}, %[[LEFT]]#1, %[[LEFT]]#2
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[MET]]
// CHECK: tssa.update %[[NEG]] of %[[MET]]
func.func @names_that_meet_again(%x: !torch.tensor<[4],f32>, %c: i1, %d: i1) -> !torch.tensor<[4],f32> {
  %none = torch.constant.none
  %a = torch.aten.clone %x, %none : !torch.tensor<[4],f32>, !torch.none -> !torch.tensor<[4],f32>
  %left:3 = scf.if %c -> (i1, !torch.tensor<[4],f32>, !torch.tensor<[4],f32>) {
    %b = torch.aten.abs %a : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
    %p = arith.select %d, %b, %a : !torch.tensor<[4],f32>
    scf.yield %d, %p, %b : i1, !torch.tensor<[4],f32>, !torch.tensor<[4],f32>
  } else {
    scf.yield %c, %a, %a : i1, !torch.tensor<[4],f32>, !torch.tensor<[4],f32>
  }
  %met = arith.select %left#0, %left#1, %left#2 : !torch.tensor<[4],f32>
  %w = torch.aten.neg_ %met : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  %r = torch.aten.relu %met : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  return %r : !torch.tensor<[4],f32>
}
