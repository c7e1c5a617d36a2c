// RUN: ssa-opt %s --pass-pipeline="builtin.module(func.func(collapse-linalg-loops))" | FileCheck %s

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// CHECK-DAG: #[[$ONE:.+]] = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @contiguous(
// CHECK-SAME: %[[X:.+]]: memref<8x21xf32>, %[[Y:.+]]: memref<8x21xf32>
func.func @contiguous(%x: memref<8x21xf32>, %y: memref<8x21xf32>) {
  // CHECK-DAG: %[[FROM:.+]] = memref.collapse_shape %[[X]] {{\[\[}}0, 1]]
  // CHECK-DAG: %[[TO:.+]] = memref.collapse_shape %[[Y]] {{\[\[}}0, 1]]
  // CHECK: linalg.generic {indexing_maps = [#[[$ONE]], #[[$ONE]]], iterator_types = ["parallel"]}
  // CHECK-SAME: ins(%[[FROM]] : memref<168xf32>) outs(%[[TO]] : memref<168xf32>)
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<8x21xf32>) outs(%y : memref<8x21xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  }
  return
}

// What is added is the same in each row.
// CHECK-LABEL: func.func @broadcast(
// CHECK-NOT: memref.collapse_shape
func.func @broadcast(%x: memref<8x21xf32>, %v: memref<21xf32>, %y: memref<8x21xf32>) {
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %v : memref<8x21xf32>, memref<21xf32>) outs(%y : memref<8x21xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: func.func @transposed(
// CHECK-NOT: memref.collapse_shape
func.func @transposed(%x: memref<21x8xf32>, %y: memref<8x21xf32>) {
  linalg.generic {indexing_maps = [#turned, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<21x8xf32>) outs(%y : memref<8x21xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

// Rows of a larger buffer have others in between.
// CHECK-LABEL: func.func @part(
// CHECK-NOT: memref.collapse_shape
func.func @part(%x: memref<8x20xf32, strided<[21, 1]>>, %y: memref<8x20xf32>) {
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<8x20xf32, strided<[21, 1]>>) outs(%y : memref<8x20xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

// Rows are added up one by one.
// CHECK-LABEL: func.func @sums(
// CHECK-NOT: memref.collapse_shape
func.func @sums(%x: memref<8x21xf32>, %y: memref<8xf32>) {
  linalg.generic {indexing_maps = [#all, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x21xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

#first = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#three = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// Dimensions of one element are dropped before.
// CHECK-LABEL: func.func @units(
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]}
// CHECK-SAME: ins(%{{.+}} : memref<6xf32>) outs(%{{.+}} : memref<6x4xf32>)
func.func @units(%x: memref<2x3x1xf32>, %y: memref<2x3x4xf32>) {
  linalg.generic {indexing_maps = [#first, #three], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : memref<2x3x1xf32>) outs(%y : memref<2x3x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

// Also of parts of larger buffers.
// CHECK-LABEL: func.func @unit_of_part(
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel"]}
// CHECK-SAME: ins(%{{.+}} : memref<4xf32, strided<[2]>>) outs(%{{.+}} : memref<4xf32>)
func.func @unit_of_part(%x: memref<1x4xf32, strided<[20, 2]>>, %y: memref<1x4xf32>) {
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<1x4xf32, strided<[20, 2]>>) outs(%y : memref<1x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}
