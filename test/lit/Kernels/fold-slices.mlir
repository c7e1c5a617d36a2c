// RUN: ssa-opt %s --fold-slices | FileCheck %s

// A row of which the dimension of one element is dropped is one slice, and so is
// the insertion of one that gets such a dimension.
// CHECK-LABEL: func.func @row
// CHECK: tensor.extract_slice %{{.+}}[%{{.+}}, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
// CHECK: tensor.insert_slice %{{.+}} into %{{.+}}[0, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
// CHECK-NEXT: return
func.func @row(%x: tensor<8x4xf32>, %i: index, %z: tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>) {
  %row = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<1x4xf32>
  %flat = tensor.collapse_shape %row [[0, 1]] : tensor<1x4xf32> into tensor<4xf32>
  %wide = tensor.expand_shape %z [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %y = tensor.insert_slice %wide into %x[0, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
  return %y, %flat : tensor<8x4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @slice_of_slice
// CHECK: tensor.extract_slice %{{.+}}[3] [2] [1] : tensor<8xf32> to tensor<2xf32>
// CHECK-NEXT: return
func.func @slice_of_slice(%x: tensor<8xf32>) -> tensor<2xf32> {
  %a = tensor.extract_slice %x[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %b = tensor.extract_slice %a[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
  return %b : tensor<2xf32>
}

// Of the dimensions of one element the first is kept and the third is dropped,
// which nothing but their order says: both are dropped, and one is added again.
// CHECK-LABEL: func.func @ambiguous
// CHECK: %[[S:.+]] = tensor.extract_slice %{{.+}}[0, 0, 1, 0] [1, %{{.+}}, 1, %{{.+}}] [1, 1, 1, 1] : tensor<1x?x2x?xf32> to tensor<?x?xf32>
// CHECK: tensor.expand_shape %[[S]] {{\[\[}}0, 1], [2]] output_shape [1, %{{.+}}, %{{.+}}]
// CHECK: %[[T:.+]] = tensor.collapse_shape %{{.+}} {{\[\[}}0, 1], [2]] : tensor<1x?x?xf32> into tensor<?x?xf32>
// CHECK: tensor.insert_slice %[[T]] into
func.func @ambiguous(%x: tensor<1x?x2x?xf32>, %m: index, %n: index, %z: tensor<1x?x?xf32>) -> (tensor<1x?x?xf32>, tensor<1x?x2x?xf32>) {
  %s = tensor.extract_slice %x[0, 0, 1, 0] [1, %m, 1, %n] [1, 1, 1, 1] : tensor<1x?x2x?xf32> to tensor<1x?x?xf32>
  %y = tensor.insert_slice %z into %x[0, 0, 0, 0] [1, %m, 1, %n] [1, 1, 1, 1] : tensor<1x?x?xf32> into tensor<1x?x2x?xf32>
  return %s, %y : tensor<1x?x?xf32>, tensor<1x?x2x?xf32>
}
