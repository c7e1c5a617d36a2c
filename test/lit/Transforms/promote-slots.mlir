// Loops carry the slots that they touch instead of the tensor.
// RUN: ssa-opt --tssa-promote-slots --canonicalize %s | FileCheck %s

// One row is read and written: the tensor is rebuilt once, after the loop.
// CHECK-LABEL: func.func @one_slot(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: index
// CHECK: %[[ACCESS:.+]] = tssa.access "torch.aten.select.int" %[[ARG0]][%int0, %int1
// CHECK: %[[FOR:.+]] = scf.for %[[IV:.+]] = %{{.+}} to %[[ARG1]] step %{{.+}} iter_args(%[[CARRIED:.+]] = %[[ACCESS]]) -> (!torch.vtensor<[3],f32>) {
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[CARRIED]]
// CHECK: scf.yield %[[NEG]] : !torch.vtensor<[3],f32>
// CHECK: %[[ASSIGN:.+]] = tssa.assign "torch.aten.select.int" %[[ARG0]], %[[FOR]][%int0, %int1
// CHECK: return %[[ASSIGN]]
func.func @one_slot(%x: !torch.vtensor<[4,3],f32>, %n: index) -> !torch.vtensor<[4,3],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%k = %x) -> (!torch.vtensor<[4,3],f32>) {
    %s = tssa.access "torch.aten.select.int" %k[%int0, %int1 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[3],f32>
    %t = torch.aten.neg %s : !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
    %m = tssa.assign "torch.aten.select.int" %k, %t[%int0, %int1 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
    scf.yield %m : !torch.vtensor<[4,3],f32>
  }
  return %r : !torch.vtensor<[4,3],f32>
}

// Two rows that differ.
// CHECK-LABEL: func.func @two_slots(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: index
// CHECK: %[[ACCESS:.+]] = tssa.access "torch.aten.select.int" %[[ARG0]][%int0, %int0
// CHECK: %[[ACCESS_2:.+]] = tssa.access "torch.aten.select.int" %[[ARG0]][%int0, %int-1
// CHECK: %[[FOR:.+]] = scf.for %[[IV:.+]] = %{{.+}} to %[[ARG1]] step %{{.+}} iter_args(%[[CARRIED:.+]] = %[[ACCESS_2]]) -> (!torch.vtensor<[3],f32>) {
// CHECK: scf.yield %[[ACCESS]] : !torch.vtensor<[3],f32>
// CHECK: %[[ASSIGN:.+]] = tssa.assign "torch.aten.select.int" %[[ARG0]], %[[FOR]][%int0, %int-1
// CHECK: return %[[ASSIGN]]
func.func @two_slots(%x: !torch.vtensor<[4,3],f32>, %n: index) -> !torch.vtensor<[4,3],f32> {
  %int0 = torch.constant.int 0
  %int-1 = torch.constant.int -1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%k = %x) -> (!torch.vtensor<[4,3],f32>) {
    %s = tssa.access "torch.aten.select.int" %k[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[3],f32>
    %m = tssa.assign "torch.aten.select.int" %k, %s[%int0, %int-1 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
    scf.yield %m : !torch.vtensor<[4,3],f32>
  }
  return %r : !torch.vtensor<[4,3],f32>
}

// The row is another one in each iteration.
// CHECK-LABEL: func.func @slot_moves(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[3],f32>
// CHECK-SAME: %[[ARG2:[a-z0-9]+]]: index
// CHECK: %[[FOR:.+]] = scf.for %[[IV:.+]] = %{{.+}} to %[[ARG2]] step %{{.+}} iter_args(%[[CARRIED:.+]] = %[[ARG0]]) -> (!torch.vtensor<[4,3],f32>) {
// CHECK: %[[ASSIGN:.+]] = tssa.assign "torch.aten.select.int" %[[CARRIED]], %[[ARG1]][%int0, %{{.+}}
// CHECK: scf.yield %[[ASSIGN]] : !torch.vtensor<[4,3],f32>
func.func @slot_moves(%x: !torch.vtensor<[4,3],f32>, %s: !torch.vtensor<[3],f32>, %n: index) -> !torch.vtensor<[4,3],f32> {
  %int0 = torch.constant.int 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%k = %x) -> (!torch.vtensor<[4,3],f32>) {
    %i64 = arith.index_cast %i : index to i64
    %j = torch_c.from_i64 %i64
    %m = tssa.assign "torch.aten.select.int" %k, %s[%int0, %j : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
    scf.yield %m : !torch.vtensor<[4,3],f32>
  }
  return %r : !torch.vtensor<[4,3],f32>
}

// A row and a column cross.
// CHECK-LABEL: func.func @slots_overlap(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: index
// CHECK: %[[FOR:.+]] = scf.for %[[IV:.+]] = %{{.+}} to %[[ARG1]] step %{{.+}} iter_args(%[[CARRIED:.+]] = %[[ARG0]]) -> (!torch.vtensor<[4,4],f32>) {
// CHECK: %[[ACCESS:.+]] = tssa.access "torch.aten.select.int" %[[CARRIED]][%int1, %int0
// CHECK: %[[ASSIGN:.+]] = tssa.assign "torch.aten.select.int" %[[CARRIED]], %[[ACCESS]][%int0, %int0
// CHECK: scf.yield %[[ASSIGN]] : !torch.vtensor<[4,4],f32>
func.func @slots_overlap(%x: !torch.vtensor<[4,4],f32>, %n: index) -> !torch.vtensor<[4,4],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%k = %x) -> (!torch.vtensor<[4,4],f32>) {
    %s = tssa.access "torch.aten.select.int" %k[%int1, %int0 : !torch.int, !torch.int] : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4],f32>
    %m = tssa.assign "torch.aten.select.int" %k, %s[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4],f32>
    scf.yield %m : !torch.vtensor<[4,4],f32>
  }
  return %r : !torch.vtensor<[4,4],f32>
}

// The whole tensor is read as well.
// CHECK-LABEL: func.func @tensor_is_read_whole(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: index
// CHECK: %[[FOR:.+]] = scf.for %[[IV:.+]] = %{{.+}} to %[[ARG1]] step %{{.+}} iter_args(%[[CARRIED:.+]] = %[[ARG0]]) -> (!torch.vtensor<[4],f32>) {
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[CARRIED]]
// CHECK: %[[ACCESS:.+]] = tssa.access "torch.aten.select.int" %[[NEG]][%int0, %int0
// CHECK: %[[ASSIGN:.+]] = tssa.assign "torch.aten.select.int" %[[CARRIED]], %[[ACCESS]][%int0, %int0
// CHECK: scf.yield %[[ASSIGN]] : !torch.vtensor<[4],f32>
func.func @tensor_is_read_whole(%x: !torch.vtensor<[4],f32>, %n: index) -> !torch.vtensor<[4],f32> {
  %int0 = torch.constant.int 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%k = %x) -> (!torch.vtensor<[4],f32>) {
    %a = torch.aten.neg %k : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
    %s = tssa.access "torch.aten.select.int" %a[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[4],f32> -> !torch.vtensor<[],f32>
    %m = tssa.assign "torch.aten.select.int" %k, %s[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[4],f32>, !torch.vtensor<[],f32>
    scf.yield %m : !torch.vtensor<[4],f32>
  }
  return %r : !torch.vtensor<[4],f32>
}

// The view itself is forwarded: each iteration transposes. Used to be dropped.
// CHECK-LABEL: func.func @loop_yields_view(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: index
// CHECK: %[[FOR:.+]] = scf.for %[[IV:.+]] = %{{.+}} to %[[ARG1]] step %{{.+}} iter_args(%[[CARRIED:.+]] = %[[ARG0]]) -> (!torch.vtensor<[4,4],f32>) {
// CHECK: %[[ACCESS:.+]] = tssa.access "torch.aten.t" %[[CARRIED]]
// CHECK: scf.yield %[[ACCESS]] : !torch.vtensor<[4,4],f32>
func.func @loop_yields_view(%x: !torch.vtensor<[4,4],f32>, %n: index) -> !torch.vtensor<[4,4],f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%k = %x) -> (!torch.vtensor<[4,4],f32>) {
    %t = tssa.access "torch.aten.t" %k : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
    scf.yield %t : !torch.vtensor<[4,4],f32>
  }
  return %r : !torch.vtensor<[4,4],f32>
}

// There is no row 7, which is an error only if the loop runs.
// CHECK-LABEL: func.func @slot_out_of_range(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[3],f32>
// CHECK-SAME: %[[ARG2:[a-z0-9]+]]: index
// CHECK: %[[FOR:.+]] = scf.for %[[IV:.+]] = %{{.+}} to %[[ARG2]] step %{{.+}} iter_args(%[[CARRIED:.+]] = %[[ARG0]]) -> (!torch.vtensor<[4,3],f32>) {
// CHECK: %[[ASSIGN:.+]] = tssa.assign "torch.aten.select.int" %[[CARRIED]], %[[ARG1]][%int0, %int7
// CHECK: scf.yield %[[ASSIGN]] : !torch.vtensor<[4,3],f32>
func.func @slot_out_of_range(%x: !torch.vtensor<[4,3],f32>, %s: !torch.vtensor<[3],f32>, %n: index) -> !torch.vtensor<[4,3],f32> {
  %int0 = torch.constant.int 0
  %int7 = torch.constant.int 7
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%k = %x) -> (!torch.vtensor<[4,3],f32>) {
    %m = tssa.assign "torch.aten.select.int" %k, %s[%int0, %int7 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
    scf.yield %m : !torch.vtensor<[4,3],f32>
  }
  return %r : !torch.vtensor<[4,3],f32>
}

// Nor need there be a row 0.
// CHECK-LABEL: func.func @slot_of_unknown_size(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[?,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[3],f32>
// CHECK-SAME: %[[ARG2:[a-z0-9]+]]: index
// CHECK: %[[FOR:.+]] = scf.for %[[IV:.+]] = %{{.+}} to %[[ARG2]] step %{{.+}} iter_args(%[[CARRIED:.+]] = %[[ARG0]]) -> (!torch.vtensor<[?,3],f32>) {
// CHECK: %[[ASSIGN:.+]] = tssa.assign "torch.aten.select.int" %[[CARRIED]], %[[ARG1]][%int0, %int0
// CHECK: scf.yield %[[ASSIGN]] : !torch.vtensor<[?,3],f32>
func.func @slot_of_unknown_size(%x: !torch.vtensor<[?,3],f32>, %s: !torch.vtensor<[3],f32>, %n: index) -> !torch.vtensor<[?,3],f32> {
  %int0 = torch.constant.int 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%k = %x) -> (!torch.vtensor<[?,3],f32>) {
    %m = tssa.assign "torch.aten.select.int" %k, %s[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[?,3],f32>, !torch.vtensor<[3],f32>
    scf.yield %m : !torch.vtensor<[?,3],f32>
  }
  return %r : !torch.vtensor<[?,3],f32>
}
