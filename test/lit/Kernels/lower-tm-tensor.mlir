// RUN: ssa-opt %s --allow-unregistered-dialect --pass-pipeline="builtin.module(func.func(lower-tm-tensor))" | FileCheck %s

// A running sum: the sum so far is carried beside the tensor. There may be no
// first element, so the loop begins there. What the output holds is never read.
// CHECK-LABEL: func.func @scan
// CHECK: %[[EMPTY:.+]] = tensor.empty() : tensor<3x8xf32>
// CHECK: scf.for %[[ROW:.+]] = {{.*}} iter_args(%[[OUT:.+]] = %[[EMPTY]], %[[LAST:.+]] = %arg2)
// CHECK: %[[BEFORE:.+]] = tensor.extract %[[LAST]][%[[ROW]]]
// CHECK: %[[ROWS:.+]]:2 = scf.for %[[AT:.+]] = %[[C0:.+]] to {{.*}} iter_args(%[[SUMS:.+]] = %[[OUT]], %[[SUM:.+]] = %[[BEFORE]])
// CHECK: %[[FIRST:.+]] = arith.cmpi eq, %[[AT]], %[[C0]]
// CHECK: %[[X:.+]] = tensor.extract %arg0[%[[ROW]], %[[AT]]]
// CHECK: %[[ADDED:.+]] = arith.addf %[[SUM]], %[[X]]
// CHECK: %[[NEXT:.+]] = arith.select %[[FIRST]], %[[X]], %[[ADDED]]
// CHECK: %[[WRITTEN:.+]] = tensor.insert %[[NEXT]] into %[[SUMS]][%[[ROW]], %[[AT]]]
// CHECK: scf.yield %[[WRITTEN]], %[[NEXT]]
// CHECK: tensor.insert %[[ROWS]]#1 into %[[LAST]][%[[ROW]]]
func.func @scan(%x: tensor<3x8xf32>, %out: tensor<3x8xf32>, %last: tensor<3xf32>) -> (tensor<3x8xf32>, tensor<3xf32>) {
  %r:2 = "tm_tensor.scan"(%x, %out, %last) <{dimension = 1 : i64, inclusive = true, operandSegmentSizes = array<i32: 1, 2>}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    "tm_tensor.yield"(%s) : (f32) -> ()
  }) : (tensor<3x8xf32>, tensor<3x8xf32>, tensor<3xf32>) -> (tensor<3x8xf32>, tensor<3xf32>)
  return %r#0, %r#1 : tensor<3x8xf32>, tensor<3xf32>
}

// A sum of which only the elements are used begins with what changes no number,
// which for floats is -0.
// CHECK-LABEL: func.func @elements
// CHECK: %[[ZERO:.+]] = arith.constant -0.000000e+00 : f32
// CHECK: scf.for %[[AT:.+]] = {{.*}} iter_args(%{{.+}} = %{{.+}}, %[[SUM:.+]] = %[[ZERO]])
// CHECK-NEXT: %[[X:.+]] = tensor.extract %arg0[%[[AT]]]
// CHECK-NEXT: %[[ADDED:.+]] = arith.addf %[[SUM]], %[[X]]
// CHECK-NEXT: %[[WRITTEN:.+]] = tensor.insert %[[ADDED]]
// CHECK-NEXT: scf.yield %[[WRITTEN]], %[[ADDED]]
func.func @elements(%x: tensor<8xf32>, %out: tensor<8xf32>, %last: tensor<f32>) -> tensor<8xf32> {
  %r:2 = "tm_tensor.scan"(%x, %out, %last) <{dimension = 0 : i64, inclusive = true, operandSegmentSizes = array<i32: 1, 2>}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    "tm_tensor.yield"(%s) : (f32) -> ()
  }) : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
  return %r#0 : tensor<8xf32>
}

// An exclusive one starts with what it is given.
// CHECK-LABEL: func.func @exclusive
// CHECK: %[[FIRST:.+]] = tensor.extract %arg2[]
// CHECK: scf.for %[[AT:.+]] = {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %[[FIRST]])
// CHECK: %[[BEFORE:.+]] = arith.subi %[[AT]]
// CHECK: %[[THERE:.+]] = arith.maxsi %[[BEFORE]]
// CHECK: tensor.extract %arg0[%[[THERE]]]
func.func @exclusive(%x: tensor<8xi64>, %out: tensor<8xi64>, %first: tensor<i64>) -> tensor<8xi64> {
  %r:2 = "tm_tensor.scan"(%x, %out, %first) <{dimension = 0 : i64, inclusive = false, operandSegmentSizes = array<i32: 1, 2>}> ({
  ^bb0(%a: i64, %b: i64):
    %s = arith.addi %a, %b : i64
    "tm_tensor.yield"(%s) : (i64) -> ()
  }) : (tensor<8xi64>, tensor<8xi64>, tensor<i64>) -> (tensor<8xi64>, tensor<i64>)
  return %r#0 : tensor<8xi64>
}

// Rows that are added at indices of the second dimension.
// CHECK-LABEL: func.func @scatter
// CHECK: scf.for %[[N:.+]] = {{.*}} iter_args(%[[OUTER:.+]] = %arg2)
// CHECK: scf.for %[[I:.+]] = {{.*}} iter_args(%[[T:.+]] = %[[OUTER]])
// CHECK: %[[INDEX:.+]] = tensor.extract %arg1[%[[N]], %{{.*}}]
// CHECK: %[[PLACE:.+]] = arith.index_cast %[[INDEX]]
// CHECK: %[[UPDATE:.+]] = tensor.extract %arg0[%[[N]], %[[I]]]
// CHECK: %[[OLD:.+]] = tensor.extract %[[T]][%[[PLACE]], %[[I]]]
// CHECK: %[[SUM:.+]] = arith.addf %[[UPDATE]], %[[OLD]]
// CHECK: %[[NEXT:.+]] = tensor.insert %[[SUM]] into %[[T]][%[[PLACE]], %[[I]]]
// CHECK: scf.yield %[[NEXT]]
func.func @scatter(%x: tensor<5x4xf32>, %i: tensor<5x1xi64>, %t: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %r = "tm_tensor.scatter"(%x, %i, %t) <{dimension_map = array<i64: 0>, operandSegmentSizes = array<i32: 2, 1>, unique_indices = false}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    "tm_tensor.yield"(%s) : (f32) -> ()
  }) : (tensor<5x4xf32>, tensor<5x1xi64>, tensor<9x4xf32>) -> tensor<9x4xf32>
  return %r : tensor<9x4xf32>
}

// Dynamic sizes are bounds of loops.
// CHECK-LABEL: func.func @dynamic
// CHECK: %[[SIZE:.+]] = tensor.dim %arg0
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[SIZE]]
func.func @dynamic(%x: tensor<?xf32>, %i: tensor<?x1xi64>, %t: tensor<9xf32>) -> tensor<9xf32> {
  %r = "tm_tensor.scatter"(%x, %i, %t) <{dimension_map = array<i64: 0>, operandSegmentSizes = array<i32: 2, 1>, unique_indices = true}> ({
  ^bb0(%a: f32, %b: f32):
    "tm_tensor.yield"(%a) : (f32) -> ()
  }) : (tensor<?xf32>, tensor<?x1xi64>, tensor<9xf32>) -> tensor<9xf32>
  return %r : tensor<9xf32>
}
