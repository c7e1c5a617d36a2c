// RUN: ssa-opt %s -split-input-file --forward-copies | FileCheck %s

// x[i + 1] = x[i + 1] * x[i]: reads what it overwrites in the same step, and a
// row that does not overlap it. The target is a view that comes later.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: memref.alloc
// CHECK: %[[ROW:.+]] = memref.subview %{{.+}}[%{{.+}}, 0]
// CHECK: %[[ABOVE:.+]] = memref.subview
// CHECK: %[[TARGET:.+]] = memref.subview
// CHECK: linalg.generic {{.*}} ins(%[[ROW]], %[[ABOVE]] : {{.*}}) outs(%[[TARGET]]
// CHECK-NOT: memref.copy
#row = affine_map<(d0) -> (d0)>
#layout = strided<[1], offset: ?>
func.func @rows(%x: memref<8x4xf32>, %i: index) {
  %c1 = arith.constant 1 : index
  %next = arith.addi %i, %c1 : index
  %row = memref.subview %x[%next, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<4xf32, #layout>
  %above = memref.subview %x[%i, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<4xf32, #layout>
  %new = memref.alloc() : memref<4xf32>
  linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
      ins(%row, %above : memref<4xf32, #layout>, memref<4xf32, #layout>) outs(%new : memref<4xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %s = arith.mulf %p, %q : f32
    linalg.yield %s : f32
  }
  %target = memref.subview %x[%next, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<4xf32, #layout>
  memref.copy %new, %target : memref<4xf32> to memref<4xf32, #layout>
  return
}

// -----

// Rows i and j may be one, a reversed row reads what was overwritten before, and
// so may what loads elements itself.
// CHECK-LABEL: func.func @overlapping
// CHECK-COUNT-3: memref.copy
#row = affine_map<(d0) -> (d0)>
#reversed = affine_map<(d0) -> (3 - d0)>
#layout = strided<[1], offset: ?>
func.func @overlapping(%x: memref<8x4xf32>, %i: index, %j: index) {
  %row = memref.subview %x[%i, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<4xf32, #layout>
  %other = memref.subview %x[%j, 1] [1, 3] [1, 1] : memref<8x4xf32> to memref<3xf32, #layout>
  %shorter = memref.subview %x[%i, 0] [1, 3] [1, 1] : memref<8x4xf32> to memref<3xf32, #layout>
  %a = memref.alloc() : memref<3xf32>
  linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%other : memref<3xf32, #layout>) outs(%a : memref<3xf32>) {
  ^bb0(%p: f32, %out: f32):
    linalg.yield %p : f32
  }
  memref.copy %a, %shorter : memref<3xf32> to memref<3xf32, #layout>
  %b = memref.alloc() : memref<4xf32>
  linalg.generic {indexing_maps = [#reversed, #row], iterator_types = ["parallel"]}
      ins(%row : memref<4xf32, #layout>) outs(%b : memref<4xf32>) {
  ^bb0(%p: f32, %out: f32):
    linalg.yield %p : f32
  }
  memref.copy %b, %row : memref<4xf32> to memref<4xf32, #layout>
  %c = memref.alloc() : memref<4xf32>
  linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%c : memref<4xf32>) {
  ^bb0(%out: f32):
    %k = linalg.index 0 : index
    %v = memref.load %x[%j, %k] : memref<8x4xf32>
    linalg.yield %v : f32
  }
  memref.copy %c, %row : memref<4xf32> to memref<4xf32, #layout>
  return
}

// -----

// A transposed tensor is read in another order than it is overwritten in.
// CHECK-LABEL: func.func @transposed
// CHECK: memref.copy
#rows = affine_map<(d0, d1) -> (d0, d1)>
#columns = affine_map<(d0, d1) -> (d1, d0)>
func.func @transposed(%x: memref<4x4xf32>) {
  %new = memref.alloc() : memref<4x4xf32>
  linalg.generic {indexing_maps = [#columns, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<4x4xf32>) outs(%new : memref<4x4xf32>) {
  ^bb0(%p: f32, %out: f32):
    linalg.yield %p : f32
  }
  memref.copy %new, %x : memref<4x4xf32> to memref<4x4xf32>
  return
}

// -----

// Between the two the target is read; in the second case the source is needed
// again.
// CHECK-LABEL: func.func @needed
// CHECK-COUNT-2: memref.copy
#row = affine_map<(d0) -> (d0)>
func.func @needed(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>, %i: index) -> (f32, f32) {
  %a = memref.alloc() : memref<4xf32>
  linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%y : memref<4xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%p: f32, %out: f32):
    linalg.yield %p : f32
  }
  %v = memref.load %x[%i] : memref<4xf32>
  memref.copy %a, %x : memref<4xf32> to memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%y : memref<4xf32>) outs(%b : memref<4xf32>) {
  ^bb0(%p: f32, %out: f32):
    linalg.yield %p : f32
  }
  memref.copy %b, %z : memref<4xf32> to memref<4xf32>
  %w = memref.load %b[%i] : memref<4xf32>
  return %v, %w : f32, f32
}

// -----

// A copy of a view to itself is none.
// CHECK-LABEL: func.func @itself
// CHECK-NOT: memref.copy
#layout = strided<[1], offset: ?>
func.func @itself(%x: memref<8x4xf32>, %i: index) {
  %a = memref.subview %x[%i, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<4xf32, #layout>
  %b = memref.subview %x[%i, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<4xf32, #layout>
  memref.copy %a, %b : memref<4xf32, #layout> to memref<4xf32, #layout>
  return
}
