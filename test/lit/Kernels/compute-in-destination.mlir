// RUN: ssa-opt %s --compute-in-destination --cse | FileCheck %s

#row = affine_map<(d0) -> (d0)>

// The row is computed where it is inserted.
// CHECK-LABEL: func.func @row
// CHECK: %[[ROW:.+]] = tensor.extract_slice %{{.+}}[%{{.+}}, 0]
// CHECK: linalg.generic {{.*}} outs(%[[ROW]] : tensor<4xf32>)
func.func @row(%x: tensor<8x4xf32>, %y: tensor<4xf32>, %i: index) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %z = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%y : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %out: f32):
    %s = arith.addf %p, %p : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %r = tensor.insert_slice %z into %x[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// One that is made of another row would read a copy of that.
// CHECK-LABEL: func.func @from_another_row
// CHECK: tensor.extract_slice %{{.+}}
// CHECK-NOT: tensor.extract_slice
// CHECK: %[[NEW:.+]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT: linalg.generic {{.*}} outs(%[[NEW]] : tensor<4xf32>)
func.func @from_another_row(%x: tensor<8x4xf32>, %i: index, %j: index) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = tensor.extract_slice %x[%j, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
  %z = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%y : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %out: f32):
    %s = arith.addf %p, %p : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %r = tensor.insert_slice %z into %x[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}
