// RUN: ssa-opt %s --pass-pipeline="builtin.module(func.func(reorder-linalg-loops))" | FileCheck %s

#row = affine_map<(d0, d1, d2) -> (d0, d2)>
#column = affine_map<(d0, d1, d2) -> (d2, d1)>
#result = affine_map<(d0, d1, d2) -> (d0, d1)>

// A product of matrices: the innermost loop runs along rows of the second one
// and of the result. For each element the products are added in the same order.
// CHECK-DAG: #[[$A:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[$B:.+]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[$C:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-LABEL: func.func @product
func.func @product(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>, %c: tensor<3x5xf32>) -> tensor<3x5xf32> {
  // CHECK: linalg.generic
  // CHECK-SAME: indexing_maps = [#[[$A]], #[[$B]], #[[$C]]]
  // CHECK-SAME: iterator_types = ["parallel", "reduction", "parallel"]
  %y = linalg.generic {indexing_maps = [#row, #column, #result],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<3x4xf32>, tensor<4x5xf32>) outs(%c : tensor<3x5xf32>) {
  ^bb0(%p: f32, %q: f32, %sum: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %sum, %m : f32
    linalg.yield %s : f32
  } -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

#all = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0)>

// Sums of rows are along memory as they are.
// CHECK-LABEL: func.func @rows
// CHECK: iterator_types = ["parallel", "reduction"]
func.func @rows(%a: tensor<3x4xf32>, %c: tensor<3xf32>) -> tensor<3xf32> {
  %y = linalg.generic {indexing_maps = [#all, #first], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<3x4xf32>) outs(%c : tensor<3xf32>) {
  ^bb0(%p: f32, %sum: f32):
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  return %y : tensor<3xf32>
}

#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d1, d2)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>

// Four rows times a large matrix: each row of the matrix is multiplied by all
// four before the next one is read.
// CHECK-LABEL: func.func @large(
// CHECK-SAME: %[[A:.+]]: tensor<4x512xf32>, %[[W:.+]]: tensor<1024x512xf32>
func.func @large(%a: tensor<4x512xf32>, %w: tensor<1024x512xf32>, %c: tensor<4x1024xf32>) -> tensor<4x1024xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[$B]], #[[$C]], #[[$SWAPPED:.+]]], iterator_types = ["parallel", "parallel", "reduction"]}
  // CHECK-SAME: ins(%[[A]], %[[W]]
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : tensor<4x512xf32>, tensor<1024x512xf32>) outs(%c : tensor<4x1024xf32>) {
  ^bb0(%p: f32, %q: f32, %sum: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %sum, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x1024xf32>
  return %r : tensor<4x1024xf32>
}
