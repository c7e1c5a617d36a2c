// RUN: ssa-opt %s --flatten-views | FileCheck %s

// CHECK-LABEL: func.func @static
// CHECK: memref.reinterpret_cast %{{.+}} to offset: [0], sizes: [8, 6], strides: [6, 1]
func.func @static(%x: memref<8x2x3xf32>) -> memref<8x6xf32> {
  %y = memref.collapse_shape %x [[0], [1, 2]] : memref<8x2x3xf32> into memref<8x6xf32>
  return %y : memref<8x6xf32>
}

// CHECK-LABEL: func.func @dynamic
// CHECK: %[[M:.+]] = memref.dim %{{.+}}, %c1
// CHECK: %[[ROW:.+]] = arith.muli %{{.+}}, %[[M]]
// CHECK: memref.reinterpret_cast %{{.+}} to offset: [0], sizes: [%[[ROW]]], strides: [1]
func.func @dynamic(%x: memref<2x?xf32>) -> memref<?xf32> {
  %y = memref.collapse_shape %x [[0, 1]] : memref<2x?xf32> into memref<?xf32>
  return %y : memref<?xf32>
}

// What is not contiguous stays as it is.
// CHECK-LABEL: func.func @strided
// CHECK: memref.collapse_shape
func.func @strided(%x: memref<8x2x3xf32, strided<[12, 3, 1]>>) -> memref<8x6xf32, strided<[12, 1]>> {
  %y = memref.collapse_shape %x [[0], [1, 2]] : memref<8x2x3xf32, strided<[12, 3, 1]>> into memref<8x6xf32, strided<[12, 1]>>
  return %y : memref<8x6xf32, strided<[12, 1]>>
}

// Nor does a reshape of a buffer that a branch chooses, whatever its layout is.
// CHECK-LABEL: func.func @chosen
// CHECK: %[[BUFFER:.+]] = scf.if
// CHECK: memref.extract_strided_metadata %[[BUFFER]]
// CHECK-NOT: memref.expand_shape
// CHECK: memref.reinterpret_cast %{{.+}} to offset: [%{{.+}}], sizes: [%{{.+}}, 1], strides: [%{{.+}}, %{{.+}}]
func.func @chosen(%c: i1, %x: memref<?xf32, strided<[?], offset: ?>>, %y: memref<?xf32, strided<[?], offset: ?>>, %n: index) -> memref<?x1xf32, strided<[?, ?], offset: ?>> {
  %b = scf.if %c -> (memref<?xf32, strided<[?], offset: ?>>) {
    scf.yield %x : memref<?xf32, strided<[?], offset: ?>>
  } else {
    scf.yield %y : memref<?xf32, strided<[?], offset: ?>>
  }
  %z = memref.expand_shape %b [[0, 1]] output_shape [%n, 1] : memref<?xf32, strided<[?], offset: ?>> into memref<?x1xf32, strided<[?, ?], offset: ?>>
  return %z : memref<?x1xf32, strided<[?, ?], offset: ?>>
}

// A cast of a reshaped buffer is one of the buffer.
// CHECK-LABEL: func.func @cast_of_reshape(
// CHECK-SAME: %[[X:.+]]: memref<60xf32>)
// CHECK: memref.reinterpret_cast %[[X]]
func.func @cast_of_reshape(%x: memref<60xf32>) -> memref<60xf32> {
  %row = memref.expand_shape %x [[0, 1]] output_shape [1, 60] : memref<60xf32> into memref<1x60xf32>
  %again = memref.collapse_shape %row [[0, 1]] : memref<1x60xf32> into memref<60xf32>
  return %again : memref<60xf32>
}
