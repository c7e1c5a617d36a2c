// Values that cross a function, an scf region or a select are builtin tensors.
// RUN: ssa-opt --legalize-iree-boundary %s | FileCheck %s

// Signs and i1 are those of IREE; what the runtime reads from the attributes stays.
// CHECK-LABEL: func.func @boundary(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: tensor<4x?xf32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: tensor<2xi64>
// CHECK-SAME: -> (tensor<4x?xf32> {tssa.alias_of = 0 : i64}, tensor<2xi64>)
// CHECK: %[[FROM_BUILTIN_TENSOR:.+]] = torch_c.from_builtin_tensor %[[ARG1]] : tensor<2xi64> -> !torch.vtensor<[2],si64>
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[FROM_BUILTIN_TENSOR]] : !torch.vtensor<[2],si64> -> !torch.vtensor<[2],si64>
// CHECK: %[[TO_BUILTIN_TENSOR:.+]] = torch_c.to_builtin_tensor %[[NEG]] : !torch.vtensor<[2],si64> -> tensor<2xi64>
// CHECK: return %[[ARG0]], %[[TO_BUILTIN_TENSOR]] : tensor<4x?xf32>, tensor<2xi64>
func.func @boundary(%x: !torch.vtensor<[4,?],f32> {tssa.name = "x"}, %i: !torch.vtensor<[2],si64>, %b: !torch.vtensor<[],i1>, %n: i64) -> (!torch.vtensor<[4,?],f32> {tssa.alias_of = 0 : i64}, !torch.vtensor<[2],si64>) {
  %r = torch.aten.neg %i : !torch.vtensor<[2],si64> -> !torch.vtensor<[2],si64>
  return %x, %r : !torch.vtensor<[4,?],f32>, !torch.vtensor<[2],si64>
}

// CHECK-LABEL: func.func @branch(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: tensor<4xf32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i1
// CHECK: %[[FROM_BUILTIN_TENSOR:.+]] = torch_c.from_builtin_tensor %[[ARG0]] : tensor<4xf32> -> !torch.vtensor<[4],f32>
// CHECK: %[[IF:.+]] = scf.if %[[ARG1]] -> (tensor<4xf32>) {
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[FROM_BUILTIN_TENSOR]] : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
// CHECK: %[[TO_BUILTIN_TENSOR:.+]] = torch_c.to_builtin_tensor %[[NEG]] : !torch.vtensor<[4],f32> -> tensor<4xf32>
// CHECK: scf.yield %[[TO_BUILTIN_TENSOR]] : tensor<4xf32>
// CHECK: scf.yield %[[ARG0]] : tensor<4xf32>
func.func @branch(%x: !torch.vtensor<[4],f32>, %c: i1) -> !torch.vtensor<[4],f32> {
  %r = scf.if %c -> (!torch.vtensor<[4],f32>) {
    %n = torch.aten.neg %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
    scf.yield %n : !torch.vtensor<[4],f32>
  } else {
    scf.yield %x : !torch.vtensor<[4],f32>
  }
  return %r : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @for_loop(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: tensor<4xf32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: index
// CHECK: %[[FOR:.+]] = scf.for %[[IV:.+]] = %{{.+}} to %[[ARG1]] step %{{.+}} iter_args(%[[CARRIED:.+]] = %[[ARG0]]) -> (tensor<4xf32>) {
// CHECK: %[[FROM_BUILTIN_TENSOR:.+]] = torch_c.from_builtin_tensor %[[CARRIED]] : tensor<4xf32> -> !torch.vtensor<[4],f32>
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[FROM_BUILTIN_TENSOR]] : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
// CHECK: %[[TO_BUILTIN_TENSOR:.+]] = torch_c.to_builtin_tensor %[[NEG]] : !torch.vtensor<[4],f32> -> tensor<4xf32>
// CHECK: scf.yield %[[TO_BUILTIN_TENSOR]] : tensor<4xf32>
func.func @for_loop(%x: !torch.vtensor<[4],f32>, %n: index) -> !torch.vtensor<[4],f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%k = %x) -> (!torch.vtensor<[4],f32>) {
    %m = torch.aten.neg %k : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
    scf.yield %m : !torch.vtensor<[4],f32>
  }
  return %r : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @while_loop(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: tensor<4xf32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i1
// CHECK: %[[WHILE:.+]] = scf.while (%[[CARRIED:.+]] = %[[ARG0]]) : (tensor<4xf32>) -> tensor<4xf32> {
// CHECK: scf.condition(%[[ARG1]]) %[[CARRIED]] : tensor<4xf32>
// CHECK: ^bb{{[0-9]+}}(%[[ARG:.+]]: tensor<4xf32>):
// CHECK: %[[FROM_BUILTIN_TENSOR:.+]] = torch_c.from_builtin_tensor %[[ARG]] : tensor<4xf32> -> !torch.vtensor<[4],f32>
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[FROM_BUILTIN_TENSOR]] : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
// CHECK: %[[TO_BUILTIN_TENSOR:.+]] = torch_c.to_builtin_tensor %[[NEG]] : !torch.vtensor<[4],f32> -> tensor<4xf32>
// CHECK: scf.yield %[[TO_BUILTIN_TENSOR]] : tensor<4xf32>
func.func @while_loop(%x: !torch.vtensor<[4],f32>, %c: i1) -> !torch.vtensor<[4],f32> {
  %r = scf.while (%k = %x) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
    scf.condition(%c) %k : !torch.vtensor<[4],f32>
  } do {
  ^bb0(%k: !torch.vtensor<[4],f32>):
    %m = torch.aten.neg %k : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
    scf.yield %m : !torch.vtensor<[4],f32>
  }
  return %r : !torch.vtensor<[4],f32>
}

// IREE rejects a select of torch tensors, which canonicalization makes of small branches.
// CHECK-LABEL: func.func @select(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: tensor<4xf32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: tensor<4xf32>
// CHECK-SAME: %[[ARG2:[a-z0-9]+]]: i1
// CHECK: %[[SELECT:.+]] = arith.select %[[ARG2]], %[[ARG0]], %[[ARG1]] : tensor<4xf32>
// CHECK: return %[[SELECT]] : tensor<4xf32>
func.func @select(%x: !torch.vtensor<[4],f32>, %y: !torch.vtensor<[4],f32>, %c: i1) -> !torch.vtensor<[4],f32> {
  %r = arith.select %c, %x, %y : !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}

// A select of numbers is none of this pass's business.
// CHECK-LABEL: func.func @select_of_numbers(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: i64
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i64
// CHECK-SAME: %[[ARG2:[a-z0-9]+]]: i1
// CHECK-NOT: torch_c
// CHECK: %[[SELECT:.+]] = arith.select %[[ARG2]], %[[ARG0]], %[[ARG1]] : i64
// CHECK-NOT: torch_c
func.func @select_of_numbers(%x: i64, %y: i64, %c: i1) -> i64 {
  %r = arith.select %c, %x, %y : i64
  return %r : i64
}
