// RUN: ssa-opt %s --pass-pipeline="builtin.module(func.func(use-asserted-equalities))" | FileCheck %s

// Behind the assertion the size defined first stands for both, in nested blocks,
// too; before it nothing is known.
// CHECK-LABEL: func.func @sizes
// CHECK: %[[M:.+]] = tensor.dim %arg0
// CHECK: %[[N:.+]] = tensor.dim %arg1
// CHECK: tensor.empty(%[[N]])
// CHECK: cf.assert
// CHECK: tensor.empty(%[[M]])
// CHECK: scf.if
// CHECK: tensor.empty(%[[M]])
func.func @sizes(%x: tensor<?xf32>, %y: tensor<?xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %before = tensor.empty(%n) : tensor<?xf32>
  %same = arith.cmpi eq, %n, %m : index
  cf.assert %same, "mismatched size for broadcast"
  %behind = tensor.empty(%n) : tensor<?xf32>
  scf.if %c {
    %inside = tensor.empty(%n) : tensor<?xf32>
  }
  return
}

// A constant stands for what it is equal to, also as one of several conditions;
// what may be otherwise says nothing.
// CHECK-LABEL: func.func @constants
// CHECK-SAME: %[[N:.+]]: i64, %[[M:.+]]: i64, %[[C:.+]]: i1
// CHECK: return %c4{{.*}}, %[[M]] : i64, i64
func.func @constants(%n: i64, %m: i64, %c: i1) -> (i64, i64) {
  %c4 = arith.constant 4 : i64
  %is_four = arith.cmpi eq, %n, %c4 : i64
  %both = arith.andi %is_four, %c : i1
  cf.assert %both, "four"
  %less = arith.cmpi eq, %m, %c4 : i64
  %perhaps = arith.ori %less, %c : i1
  cf.assert %perhaps, "perhaps four"
  return %n, %m : i64, i64
}
