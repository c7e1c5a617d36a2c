// RUN: ssa-opt %s --copies-to-linalg | FileCheck %s

// Two whole tensors are copied, one of them in a loop; a row is not counted.
// CHECK-LABEL: func.func @main
// CHECK-SAME: kernel.copied_bytes = 128
// CHECK-SAME: kernel.copies = 1
// CHECK-SAME: kernel.loop_copied_bytes = 128
// CHECK-SAME: kernel.loop_copies = 1
// CHECK-NOT: memref.copy
// CHECK-COUNT-3: linalg.generic
// CHECK-NOT: linalg.generic
func.func @main(%x: memref<8x4xf32>, %y: memref<8x4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  memref.copy %x, %y : memref<8x4xf32> to memref<8x4xf32>
  %row = memref.subview %x[1, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<1x4xf32, strided<[4, 1], offset: 4>>
  %to = memref.subview %y[2, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<1x4xf32, strided<[4, 1], offset: 8>>
  memref.copy %row, %to : memref<1x4xf32, strided<[4, 1], offset: 4>> to memref<1x4xf32, strided<[4, 1], offset: 8>>
  scf.for %i = %c0 to %n step %c1 {
    memref.copy %y, %x : memref<8x4xf32> to memref<8x4xf32>
  }
  return
}
