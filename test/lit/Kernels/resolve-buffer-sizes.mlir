// RUN: ssa-opt %s --resolve-buffer-sizes | FileCheck %s

// The size of merged dimensions is the product of theirs, which are those of the
// argument.
// CHECK-LABEL: func.func @merged
// CHECK-SAME: %[[X:.+]]: memref<?x?xf32>
// CHECK-DAG: %[[M:.+]] = memref.dim %[[X]], %c0
// CHECK-DAG: %[[N:.+]] = memref.dim %[[X]], %c1
// CHECK: %[[SIZE:.+]] = arith.muli
// CHECK-NOT: memref.dim %{{.*}}collapse
// CHECK: return %[[SIZE]]
func.func @merged(%x: memref<?x?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %flat = memref.collapse_shape %x [[0, 1]] : memref<?x?xf32> into memref<?xf32>
  %size = memref.dim %flat, %c0 : memref<?xf32>
  return %size : index
}

// CHECK-LABEL: func.func @made
// CHECK-SAME: %[[N:.+]]: index
// CHECK: return %[[N]]
func.func @made(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %x = memref.alloc(%n) : memref<?xf32>
  %base, %offset, %size, %stride = memref.extract_strided_metadata %x : memref<?xf32> -> memref<f32>, index, index, index
  return %size : index
}

// Three merged dimensions, one of them of a known size.
// CHECK-LABEL: func.func @three
// CHECK-SAME: %[[X:.+]]: memref<?x2x?xf32>
// CHECK-DAG: memref.dim %[[X]], %c0
// CHECK-DAG: memref.dim %[[X]], %c2
// CHECK: arith.muli
// CHECK-NOT: memref.dim %{{.*}}collapse
// CHECK: return
func.func @three(%x: memref<?x2x?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %flat = memref.collapse_shape %x [[0, 1, 2]] : memref<?x2x?xf32> into memref<?xf32>
  %size = memref.dim %flat, %c0 : memref<?xf32>
  return %size : index
}
