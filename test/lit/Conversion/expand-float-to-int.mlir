// RUN: ssa-opt %s --expand-float-to-int | FileCheck %s --enable-var-scope
// The values are compared with Python's int() in test/python/importer/scalars_test.py.

// IREE's virtual machine could not run the conversion.
// CHECK-LABEL: func.func @double_to_int64
// CHECK-SAME: (%[[X:.+]]: f64)
func.func @double_to_int64(%x: f64) -> i64 {
  // CHECK-NOT: arith.fptosi
  // CHECK: %[[BITS:.+]] = arith.bitcast %[[X]] : f64 to i64
  // CHECK: %[[LEFT:.+]] = arith.shli
  // CHECK: %[[RIGHT:.+]] = arith.shrui
  // CHECK: arith.select %{{.+}}, %[[LEFT]], %[[RIGHT]] : i64
  %i = arith.fptosi %x : f64 to i64
  return %i : i64
}

// Conversions of other types exist and stay.
// CHECK-LABEL: func.func @float_to_int32
func.func @float_to_int32(%x: f32) -> i32 {
  // CHECK: arith.fptosi
  %i = arith.fptosi %x : f32 to i32
  return %i : i32
}
