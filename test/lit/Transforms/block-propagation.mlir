// Region ops get results, and loops carried values, for the storages that are
// updated below them.
// RUN: ssa-opt --tssa-block-propagation %s | FileCheck %s

// The branch without a write yields the version from before.
// CHECK-LABEL: func.func @branch(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i1
// CHECK: %[[IF:.+]] = scf.if %[[ARG1]] -> (!torch.vtensor<[4],f32>) {
// CHECK: tssa.update %{{.+}} of %[[ARG0]]
// CHECK: scf.yield %[[ARG0]] : !torch.vtensor<[4],f32>
// CHECK: } else {
// CHECK: scf.yield %[[ARG0]] : !torch.vtensor<[4],f32>
// CHECK: tssa.update %[[IF]] of %[[ARG0]]
func.func @branch(%b: !torch.vtensor<[4],f32>, %c: i1) -> !torch.vtensor<[4],f32> {
  scf.if %c {
    %b1 = torch.aten.neg %b : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
    tssa.update %b1 of %b : !torch.vtensor<[4],f32>
  }
  return %b : !torch.vtensor<[4],f32>
}

// What a branch makes for itself is of no concern outside.
// CHECK-LABEL: func.func @storage_made_in_branch(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i1
// CHECK-NOT: scf.yield
// CHECK-NOT: -> (!torch
// CHECK: scf.if %[[ARG1]] {
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[ARG0]]
// CHECK-NOT: scf.yield
// CHECK-NOT: -> (!torch
func.func @storage_made_in_branch(%x: !torch.vtensor<[4],f32>, %c: i1) {
  scf.if %c {
    %b = torch.aten.neg %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
    %b1 = torch.aten.abs %b : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
    tssa.update %b1 of %b : !torch.vtensor<[4],f32>
  }
  return
}

// Two storages, each written in one branch: both branches yield both.
// CHECK-LABEL: func.func @other_storage_in_each_branch(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[2],f32>
// CHECK-SAME: %[[ARG2:[a-z0-9]+]]: i1
// CHECK: %[[IF:.+]]:2 = scf.if %[[ARG2]] -> (!torch.vtensor<[4],f32>, !torch.vtensor<[2],f32>) {
// CHECK: tssa.update %{{.+}} of %[[ARG0]]
// CHECK: scf.yield %[[ARG0]], %[[ARG1]] : !torch.vtensor<[4],f32>, !torch.vtensor<[2],f32>
// CHECK: } else {
// CHECK: tssa.update %{{.+}} of %[[ARG1]]
// CHECK: scf.yield %[[ARG0]], %[[ARG1]] : !torch.vtensor<[4],f32>, !torch.vtensor<[2],f32>
// CHECK: tssa.update %[[IF]]#0 of %[[ARG0]]
// CHECK: tssa.update %[[IF]]#1 of %[[ARG1]]
func.func @other_storage_in_each_branch(%a: !torch.vtensor<[4],f32>, %b: !torch.vtensor<[2],f32>, %c: i1) {
  scf.if %c {
    %a1 = torch.aten.neg %a : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
    tssa.update %a1 of %a : !torch.vtensor<[4],f32>
  } else {
    %b1 = torch.aten.neg %b : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
    tssa.update %b1 of %b : !torch.vtensor<[2],f32>
  }
  return
}

// The update at the start of the body says that %b is what the iteration before left.
// CHECK-LABEL: func.func @for_loop(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: index
// CHECK: %[[FOR:.+]] = scf.for %[[IV:.+]] = %{{.+}} to %[[ARG1]] step %{{.+}} iter_args(%[[CARRIED:.+]] = %[[ARG0]]) -> (!torch.vtensor<[4],f32>) {
// CHECK: tssa.update %[[CARRIED]] of %[[ARG0]]
// CHECK: tssa.update %{{.+}} of %[[ARG0]]
// CHECK: scf.yield %[[ARG0]] : !torch.vtensor<[4],f32>
// CHECK: tssa.update %[[FOR]] of %[[ARG0]]
func.func @for_loop(%b: !torch.vtensor<[4],f32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %b1 = torch.aten.neg %b : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
    tssa.update %b1 of %b : !torch.vtensor<[4],f32>
  }
  return
}

// Results that the loop had keep their place in front.
// CHECK-LABEL: func.func @loop_that_carries_a_number(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: index
// CHECK-SAME: %[[ARG2:[a-z0-9]+]]: i64
// CHECK: %[[FOR:.+]]:2 = scf.for %[[IV:.+]] = %{{.+}} to %[[ARG1]] step %{{.+}} iter_args(%[[CARRIED:.+]] = %[[ARG2]], %[[CARRIED_2:.+]] = %[[ARG0]]) -> (i64, !torch.vtensor<[4],f32>) {
// CHECK: tssa.update %[[CARRIED_2]] of %[[ARG0]]
// CHECK: tssa.update %{{.+}} of %[[ARG0]]
// CHECK: scf.yield %{{.+}}, %[[ARG0]] : i64, !torch.vtensor<[4],f32>
// CHECK: tssa.update %[[FOR]]#1 of %[[ARG0]]
// CHECK: return %[[FOR]]#0
func.func @loop_that_carries_a_number(%b: !torch.vtensor<[4],f32>, %n: index, %k: i64) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %k) -> (i64) {
    %t = arith.addi %s, %k : i64
    %b1 = torch.aten.neg %b : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
    tssa.update %b1 of %b : !torch.vtensor<[4],f32>
    scf.yield %t : i64
  }
  return %r : i64
}

// The condition of a while loop sees the version that the body made, and the body
// the one of the condition.
// CHECK-LABEL: func.func @while_loop(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i1
// CHECK: %[[WHILE:.+]] = scf.while (%[[CARRIED:.+]] = %[[ARG0]]) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
// CHECK: tssa.update %[[CARRIED]] of %[[ARG0]]
// CHECK: tssa.update %{{.+}} of %[[ARG0]]
// CHECK: scf.condition(%[[ARG1]]) %[[ARG0]] : !torch.vtensor<[4],f32>
// CHECK: ^bb{{[0-9]+}}(%[[ARG:.+]]: !torch.vtensor<[4],f32>):
// CHECK: tssa.update %[[ARG]] of %[[ARG0]]
// CHECK: tssa.update %{{.+}} of %[[ARG0]]
// CHECK: scf.yield %[[ARG0]] : !torch.vtensor<[4],f32>
// CHECK: tssa.update %[[WHILE]] of %[[ARG0]]
func.func @while_loop(%b: !torch.vtensor<[4],f32>, %c: i1) {
  scf.while : () -> () {
    %b1 = torch.aten.neg %b : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
    tssa.update %b1 of %b : !torch.vtensor<[4],f32>
    scf.condition(%c)
  } do {
    %b2 = torch.aten.abs %b : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
    tssa.update %b2 of %b : !torch.vtensor<[4],f32>
    scf.yield
  }
  return
}

// The update of the inner branch is announced in the loop, that of the loop after it.
// CHECK-LABEL: func.func @branch_in_loop(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: index
// CHECK-SAME: %[[ARG2:[a-z0-9]+]]: i1
// CHECK: %[[FOR:.+]] = scf.for %[[IV:.+]] = %{{.+}} to %[[ARG1]] step %{{.+}} iter_args(%[[CARRIED:.+]] = %[[ARG0]]) -> (!torch.vtensor<[4],f32>) {
// CHECK: tssa.update %[[CARRIED]] of %[[ARG0]]
// CHECK: %[[IF:.+]] = scf.if %[[ARG2]] -> (!torch.vtensor<[4],f32>) {
// CHECK: tssa.update %{{.+}} of %[[ARG0]]
// CHECK: scf.yield %[[ARG0]] : !torch.vtensor<[4],f32>
// CHECK: scf.yield %[[ARG0]] : !torch.vtensor<[4],f32>
// CHECK: tssa.update %[[IF]] of %[[ARG0]]
// CHECK: scf.yield %[[ARG0]] : !torch.vtensor<[4],f32>
// CHECK: tssa.update %[[FOR]] of %[[ARG0]]
func.func @branch_in_loop(%b: !torch.vtensor<[4],f32>, %n: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.if %c {
      %b1 = torch.aten.neg %b : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
      tssa.update %b1 of %b : !torch.vtensor<[4],f32>
    }
  }
  return
}
