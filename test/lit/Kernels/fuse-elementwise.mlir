// RUN: ssa-opt %s --pass-pipeline="builtin.module(func.func(fuse-elementwise))" | FileCheck %s

#row = affine_map<(d0) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
#columns = affine_map<(d0, d1) -> (d1)>

// An exponential and what multiplies it are one op.
// CHECK-LABEL: func.func @once(
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK-NEXT: arith.mulf
// CHECK-NOT: linalg.generic
func.func @once(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%p: f32, %out: f32):
    %r = math.exp %p : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %b = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]} ins(%a, %x : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %r = arith.mulf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %b : tensor<8xf32>
}

// A row times a matrix asks for the row again for each row of the matrix.
// CHECK-LABEL: func.func @again(
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: linalg.generic
// CHECK: arith.mulf
func.func @again(%x: tensor<8xf32>, %w: tensor<5x8xf32>, %y: tensor<5xf32>) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%p: f32, %out: f32):
    %r = math.exp %p : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %b = linalg.generic {indexing_maps = [#columns, #all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%a, %w : tensor<8xf32>, tensor<5x8xf32>) outs(%y : tensor<5xf32>) {
  ^bb0(%p: f32, %q: f32, %sum: f32):
    %m = arith.mulf %p, %q : f32
    %r = arith.addf %sum, %m : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  return %b : tensor<5xf32>
}

// What is the same along a row is computed in front of the innermost loop.
// CHECK-LABEL: func.func @along(
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK-NEXT: arith.mulf
// CHECK-NOT: linalg.generic
func.func @along(%x: tensor<5xf32>, %w: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %f = tensor.empty() : tensor<5x8xf32>
  %a = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%x : tensor<5xf32>) outs(%e : tensor<5xf32>) {
  ^bb0(%p: f32, %out: f32):
    %r = math.exp %p : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %b = linalg.generic {indexing_maps = [#rows, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%a, %w : tensor<5xf32>, tensor<5x8xf32>) outs(%f : tensor<5x8xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %r = arith.mulf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<5x8xf32>
  return %b : tensor<5x8xf32>
}

// A conversion is no work.
// CHECK-LABEL: func.func @conversion(
// CHECK: linalg.generic
// CHECK: arith.extf
// CHECK-NEXT: arith.mulf
// CHECK-NOT: linalg.generic
func.func @conversion(%x: tensor<8xf32>, %w: tensor<5x8xf64>, %y: tensor<5xf64>) -> tensor<5xf64> {
  %e = tensor.empty() : tensor<8xf64>
  %a = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf64>) {
  ^bb0(%p: f32, %out: f64):
    %r = arith.extf %p : f32 to f64
    linalg.yield %r : f64
  } -> tensor<8xf64>
  %b = linalg.generic {indexing_maps = [#columns, #all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%a, %w : tensor<8xf64>, tensor<5x8xf64>) outs(%y : tensor<5xf64>) {
  ^bb0(%p: f64, %q: f64, %sum: f64):
    %m = arith.mulf %p, %q : f64
    %r = arith.addf %sum, %m : f64
    linalg.yield %r : f64
  } -> tensor<5xf64>
  return %b : tensor<5xf64>
}

// A square of squares: an op that reads one operand twice is fused with what
// makes it, and a chain of them does not double the body with each link.
// CHECK-LABEL: func.func @squares(
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK-COUNT-3: arith.mulf
// CHECK-NOT: arith.mulf
// CHECK: return
func.func @squares(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]} ins(%x, %x : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %r = arith.mulf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %b = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]} ins(%a, %a : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %r = arith.mulf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %c = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]} ins(%b, %b : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %r = arith.mulf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %c : tensor<8xf32>
}
