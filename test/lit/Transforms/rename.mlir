// Uses of a root become uses of its newest version.
// RUN: ssa-opt --tssa-rename %s | FileCheck %s

// A use before the update keeps the old version.
// CHECK-LABEL: func.func @straight_line(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK: %[[ABS:.+]] = torch.aten.abs %[[ARG0]]
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[ARG0]]
// CHECK: tssa.update %[[NEG]] of %[[ARG0]]
// CHECK: %[[RELU:.+]] = torch.aten.relu %[[NEG]]
// CHECK: tssa.update %[[RELU]] of %[[ARG0]]
// CHECK: return %[[RELU]], %[[ABS]]
func.func @straight_line(%b: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>) {
  %old = torch.aten.abs %b : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %b1 = torch.aten.neg %b : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  tssa.update %b1 of %b : !torch.vtensor<[4],f32>
  %b2 = torch.aten.relu %b : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  tssa.update %b2 of %b : !torch.vtensor<[4],f32>
  return %b, %old : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>
}

// The version of the first branch must not reach the second one.
// CHECK-LABEL: func.func @branches_start_from_the_same_version(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i1
// CHECK: %[[IF:.+]] = scf.if %[[ARG1]] -> (!torch.vtensor<[4],f32>) {
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[ARG0]]
// CHECK: tssa.update %[[NEG]] of %[[ARG0]]
// CHECK: scf.yield %[[NEG]] : !torch.vtensor<[4],f32>
// CHECK: } else {
// CHECK: scf.yield %[[ARG0]] : !torch.vtensor<[4],f32>
// CHECK: tssa.update %[[IF]] of %[[ARG0]]
// CHECK: return %[[IF]]
func.func @branches_start_from_the_same_version(%b: !torch.vtensor<[4],f32>, %c: i1) -> !torch.vtensor<[4],f32> {
  %r = scf.if %c -> (!torch.vtensor<[4],f32>) {
    %b1 = torch.aten.neg %b : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
    tssa.update %b1 of %b : !torch.vtensor<[4],f32>
    scf.yield %b : !torch.vtensor<[4],f32>
  } else {
    scf.yield %b : !torch.vtensor<[4],f32>
  }
  tssa.update %r of %b : !torch.vtensor<[4],f32>
  return %b : !torch.vtensor<[4],f32>
}

// The body reads the carried value, the initial value is the version before the loop.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: index
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[ARG0]]
// CHECK: tssa.update %[[NEG]] of %[[ARG0]]
// CHECK: %[[FOR:.+]] = scf.for %[[IV:.+]] = %{{.+}} to %[[ARG1]] step %{{.+}} iter_args(%[[CARRIED:.+]] = %[[NEG]]) -> (!torch.vtensor<[4],f32>) {
// CHECK: tssa.update %[[CARRIED]] of %[[ARG0]]
// CHECK: %[[ABS:.+]] = torch.aten.abs %[[CARRIED]]
// CHECK: tssa.update %[[ABS]] of %[[ARG0]]
// CHECK: scf.yield %[[ABS]] : !torch.vtensor<[4],f32>
// CHECK: tssa.update %[[FOR]] of %[[ARG0]]
// CHECK: return %[[FOR]]
func.func @loop(%b: !torch.vtensor<[4],f32>, %n: index) -> !torch.vtensor<[4],f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b1 = torch.aten.neg %b : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  tssa.update %b1 of %b : !torch.vtensor<[4],f32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%k = %b) -> (!torch.vtensor<[4],f32>) {
    tssa.update %k of %b : !torch.vtensor<[4],f32>
    %b2 = torch.aten.abs %b : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
    tssa.update %b2 of %b : !torch.vtensor<[4],f32>
    scf.yield %b : !torch.vtensor<[4],f32>
  }
  tssa.update %r of %b : !torch.vtensor<[4],f32>
  return %b : !torch.vtensor<[4],f32>
}

// An update of one storage says nothing of another.
// CHECK-LABEL: func.func @two_storages(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[ARG1]]
// CHECK: tssa.update %[[NEG]] of %[[ARG1]]
// CHECK: return %[[ARG0]], %[[NEG]]
func.func @two_storages(%a: !torch.vtensor<[4],f32>, %b: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>) {
  %b1 = torch.aten.neg %b : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  tssa.update %b1 of %b : !torch.vtensor<[4],f32>
  return %a, %b : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>
}
