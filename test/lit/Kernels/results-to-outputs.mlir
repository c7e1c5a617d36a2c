// RUN: ssa-opt %s -split-input-file -verify-diagnostics --results-to-outputs | FileCheck %s

// What is allocated is the caller's buffer; an argument that is returned is
// copied.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<4xf32>
// CHECK-SAME: %[[NEW:[a-z0-9]+]]: memref<4xf32>, %[[SAME:[a-z0-9]+]]: memref<4xf32>)
// CHECK-SAME: kernel.sizes = 0
// CHECK: linalg.fill {{.*}} outs(%[[NEW]]
// CHECK: memref.copy %[[X]], %[[SAME]]
// CHECK: return
func.func @main(%x: memref<4xf32>, %f: f32) -> (memref<4xf32>, memref<4xf32>) {
  %new = memref.alloc() : memref<4xf32>
  linalg.fill ins(%f : f32) outs(%new : memref<4xf32>)
  return %new, %x : memref<4xf32>, memref<4xf32>
}

// -----

// New contents of an argument are in its buffer; nothing is returned for them,
// nor for a result that is the argument.
// CHECK-LABEL: func.func @written(
// CHECK-SAME: %{{[a-z0-9]+}}: memref<4xf32> {kernel.role = "written"}, %{{[a-z0-9]+}}: f32)
// CHECK-NOT: memref.copy
// CHECK: return
// CHECK-NEXT: }
func.func @written(%x: memref<4xf32> {kernel.role = "written"}, %f: f32)
    -> (memref<4xf32> {tssa.alias_of = 0 : i64}, memref<4xf32> {tssa.writeback = 0 : i64}) {
  linalg.fill ins(%f : f32) outs(%x : memref<4xf32>)
  return %x, %x : memref<4xf32>, memref<4xf32>
}

// -----

// The size of a result is returned behind the numbers, and the kernel asserts
// that the caller gave it that.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<?xf32>) -> (i64, index)
// CHECK-SAME: kernel.sizes = 1
// CHECK: %[[SIZE:.+]] = arith.addi
// CHECK: %[[GIVEN:.+]] = memref.dim %[[OUT]]
// CHECK: %[[SAME:.+]] = arith.cmpi eq, %[[SIZE]], %[[GIVEN]]
// CHECK: cf.assert %[[SAME]], "RuntimeError: not enough memory for a tensor
// CHECK: return %{{.+}}, %[[SIZE]]
func.func @dynamic(%n: index, %k: i64, %f: f32) -> (memref<?xf32>, i64) {
  %size = arith.addi %n, %n : index
  %new = memref.alloc(%size) : memref<?xf32>
  linalg.fill ins(%f : f32) outs(%new : memref<?xf32>)
  return %new, %k : memref<?xf32>, i64
}

// -----

func.func @elsewhere(%x: memref<4xf32>) -> (memref<4xf32> {tssa.writeback = 0 : i64}) {
  %new = memref.alloc() : memref<4xf32>
  // expected-error @below {{unsupported: new contents of an argument that are not in its buffer}}
  return %new : memref<4xf32>
}
