// Ops on immutable tensors that do nothing.
// RUN: ssa-opt --torch-simplify %s | FileCheck %s

// CHECK-LABEL: func.func @clone(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[?,3],f32>
// CHECK-NOT: clone
// CHECK: return %[[ARG0]]
func.func @clone(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %none = torch.constant.none
  %c = torch.aten.clone %x, %none : !torch.vtensor<[?,3],f32>, !torch.none -> !torch.vtensor<[?,3],f32>
  return %c : !torch.vtensor<[?,3],f32>
}

// A mutable clone is a second tensor.
// CHECK-LABEL: func.func @clone_of_mutable(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.tensor<[4],f32>
// CHECK: %[[CLONE:.+]] = torch.aten.clone %[[ARG0]], %none
// CHECK: return %[[CLONE]]
func.func @clone_of_mutable(%x: !torch.tensor<[4],f32>) -> !torch.tensor<[4],f32> {
  %none = torch.constant.none
  %c = torch.aten.clone %x, %none : !torch.tensor<[4],f32>, !torch.none -> !torch.tensor<[4],f32>
  return %c : !torch.tensor<[4],f32>
}

// CHECK-LABEL: func.func @copy(
// CHECK-SAME: %{{[a-z0-9]+}}: !torch.vtensor<[4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-NOT: torch.aten.copy
// CHECK: return %[[ARG1]]
func.func @copy(%x: !torch.vtensor<[4],f32>, %y: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %false = torch.constant.bool false
  %c = torch.aten.copy %x, %y, %false : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.bool -> !torch.vtensor<[4],f32>
  return %c : !torch.vtensor<[4],f32>
}

// The copy broadcasts: the source alone would have another shape.
// CHECK-LABEL: func.func @copy_of_smaller(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[1],f32>
// CHECK: %[[COPY:.+]] = torch.aten.copy %[[ARG0]], %[[ARG1]], %false
// CHECK: return %[[COPY]]
func.func @copy_of_smaller(%x: !torch.vtensor<[4],f32>, %y: !torch.vtensor<[1],f32>) -> !torch.vtensor<[4],f32> {
  %false = torch.constant.bool false
  %c = torch.aten.copy %x, %y, %false : !torch.vtensor<[4],f32>, !torch.vtensor<[1],f32>, !torch.bool -> !torch.vtensor<[4],f32>
  return %c : !torch.vtensor<[4],f32>
}

// Dynamic sizes may broadcast as well.
// CHECK-LABEL: func.func @copy_of_unknown_size(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[?],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[?],f32>
// CHECK: %[[COPY:.+]] = torch.aten.copy %[[ARG0]], %[[ARG1]], %false
// CHECK: return %[[COPY]]
func.func @copy_of_unknown_size(%x: !torch.vtensor<[?],f32>, %y: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32> {
  %false = torch.constant.bool false
  %c = torch.aten.copy %x, %y, %false : !torch.vtensor<[?],f32>, !torch.vtensor<[?],f32>, !torch.bool -> !torch.vtensor<[?],f32>
  return %c : !torch.vtensor<[?],f32>
}

// The copy converts.
// CHECK-LABEL: func.func @copy_of_other_dtype(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[4],f64>
// CHECK: %[[COPY:.+]] = torch.aten.copy %[[ARG0]], %[[ARG1]], %false
// CHECK: return %[[COPY]]
func.func @copy_of_other_dtype(%x: !torch.vtensor<[4],f32>, %y: !torch.vtensor<[4],f64>) -> !torch.vtensor<[4],f32> {
  %false = torch.constant.bool false
  %c = torch.aten.copy %x, %y, %false : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f64>, !torch.bool -> !torch.vtensor<[4],f32>
  return %c : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @cast_to_the_same_type(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-NOT: static_info_cast
// CHECK: return %[[ARG0]]
func.func @cast_to_the_same_type(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %c = torch.tensor_static_info_cast %x : !torch.vtensor<[4],f32> to !torch.vtensor<[4],f32>
  return %c : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @cast_to_other_type(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK: %[[TENSOR_STATIC_INFO_CAST:.+]] = torch.tensor_static_info_cast %[[ARG0]]
// CHECK: return %[[TENSOR_STATIC_INFO_CAST]]
func.func @cast_to_other_type(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[?],f32> {
  %c = torch.tensor_static_info_cast %x : !torch.vtensor<[4],f32> to !torch.vtensor<[?],f32>
  return %c : !torch.vtensor<[?],f32>
}

// What a loop carries without change is its initial value: rewriting leaves such values.
// CHECK-LABEL: func.func @carried_without_change(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-NOT: iter_args
// CHECK: return %[[ARG0]]
func.func @carried_without_change(%x: !torch.vtensor<[4],f32>, %n: index) -> !torch.vtensor<[4],f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%k = %x) -> (!torch.vtensor<[4],f32>) {
    scf.yield %k : !torch.vtensor<[4],f32>
  }
  return %r : !torch.vtensor<[4],f32>
}
