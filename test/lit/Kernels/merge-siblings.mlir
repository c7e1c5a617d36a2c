// RUN: ssa-opt %s -split-input-file --pass-pipeline="builtin.module(func.func(merge-siblings))" | FileCheck %s

// A minimum and a maximum of the same numbers: one op, which reads them once.
// CHECK-LABEL: func.func @pair(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?xf32>, %[[Y:[a-z0-9]+]]: tensor<?xf32>
// CHECK: %[[BOTH:.+]]:2 = linalg.generic
// CHECK-SAME: ins(%[[X]], %[[Y]], %[[X]], %[[Y]] :
// CHECK: %[[MIN:.+]] = arith.minimumf
// CHECK: %[[MAX:.+]] = arith.maximumf
// CHECK: linalg.yield %[[MIN]], %[[MAX]]
// CHECK-NOT: linalg.generic
// CHECK: return %[[BOTH]]#0, %[[BOTH]]#1
#row = affine_map<(d0) -> (d0)>
func.func @pair(%x: tensor<?xf32>, %y: tensor<?xf32>, %e: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %a = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %r = arith.minimumf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %b = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %r = arith.maximumf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}

// -----

// What uses the earlier result moves behind the op; the assertion stays in
// front of it.
// CHECK-LABEL: func.func @between(
// CHECK: cf.assert
// CHECK: %[[BOTH:.+]]:2 = linalg.generic
// CHECK: tensor.insert_slice %[[BOTH]]#0
// CHECK: tensor.insert_slice %[[BOTH]]#1
#row = affine_map<(d0) -> (d0)>
func.func @between(%x: tensor<4xf32>, %z: tensor<2x4xf32>, %e: tensor<4xf32>, %ok: i1) -> tensor<2x4xf32> {
  %a = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %out: f32):
    %r = math.exp %p : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %z1 = tensor.insert_slice %a into %z[0, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<2x4xf32>
  cf.assert %ok, "ValueError: no"
  %b = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %out: f32):
    %r = arith.negf %p : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %z2 = tensor.insert_slice %b into %z1[1, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<2x4xf32>
  return %z2 : tensor<2x4xf32>
}

// -----

// The second needs the first, by way of a reduction: two ops stay two.
// CHECK-LABEL: func.func @softmax(
// CHECK-COUNT-3: linalg.generic
#row = affine_map<(d0) -> (d0)>
#one = affine_map<(d0) -> ()>
func.func @softmax(%x: tensor<4xf32>, %e: tensor<4xf32>, %zero: tensor<f32>) -> tensor<4xf32> {
  %a = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %out: f32):
    %r = math.exp %p : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %sum = linalg.generic {indexing_maps = [#row, #one], iterator_types = ["reduction"]}
      ins(%a : tensor<4xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%p: f32, %s: f32):
    %r = arith.addf %s, %p : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  %b = linalg.generic {indexing_maps = [#row, #one, #row], iterator_types = ["parallel"]}
      ins(%x, %sum : tensor<4xf32>, tensor<f32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %s: f32, %out: f32):
    %r = arith.divf %p, %s : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %b : tensor<4xf32>
}

// -----

// The first one reads y, into which a row is inserted before the second: it
// stays in front of that, or y would have to be copied.
// CHECK-LABEL: func.func @overwritten(
// CHECK: linalg.generic
// CHECK: tensor.insert_slice
// CHECK: linalg.generic
#row = affine_map<(d0) -> (d0)>
func.func @overwritten(%x: tensor<4xf32>, %y: tensor<4xf32>, %u: tensor<1xf32>, %e: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %r = arith.addf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %y1 = tensor.insert_slice %u into %y[0] [1] [1] : tensor<1xf32> into tensor<4xf32>
  %b = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %out: f32):
    %r = arith.negf %p : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %a, %y1, %b : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Rows and columns of one matrix: the loops may have other sizes.
// CHECK-LABEL: func.func @transposed(
// CHECK-COUNT-2: linalg.generic
#rows = affine_map<(d0, d1) -> (d0, d1)>
#columns = affine_map<(d0, d1) -> (d1, d0)>
func.func @transposed(%x: tensor<?x?xf32>, %e: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %a = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %out: f32):
    %r = arith.negf %p : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %b = linalg.generic {indexing_maps = [#columns, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %out: f32):
    linalg.yield %p : f32
  } -> tensor<?x?xf32>
  return %a, %b : tensor<?x?xf32>, tensor<?x?xf32>
}
