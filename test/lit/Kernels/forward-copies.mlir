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

// -----

// An op of two results, each of which overwrites the half that it reads: pairs
// are exchanged in place. The target is grouped in the dimensions of the result.
// CHECK-LABEL: func.func @halves
// CHECK-NOT: memref.alloc
// CHECK: %[[TO:.+]] = memref.expand_shape %[[FIRST:.+]] {{\[\[}}0, 1], [2]]
// CHECK-NEXT: %[[AND:.+]] = memref.expand_shape %[[SECOND:.+]] {{\[\[}}0, 1], [2]]
// CHECK-NEXT: %[[TO2:.+]] = memref.expand_shape %[[FIRST]] {{\[\[}}0, 1], [2]]
// CHECK-NEXT: %[[AND2:.+]] = memref.expand_shape %[[SECOND]] {{\[\[}}0, 1], [2]]
// CHECK-NEXT: linalg.generic
// CHECK-SAME: ins(%[[TO]], %[[AND]] :
// CHECK-SAME: outs(%[[TO2]], %[[AND2]] :
// CHECK-NOT: memref.copy
#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#half = strided<[8, 1]>
#other = strided<[8, 1], offset: 4>
func.func @halves(%x: memref<3x2x4xf32>) {
  %a = memref.subview %x[0, 0, 0] [3, 1, 4] [1, 1, 1] : memref<3x2x4xf32> to memref<3x4xf32, #half>
  %b = memref.subview %x[0, 1, 0] [3, 1, 4] [1, 1, 1] : memref<3x2x4xf32> to memref<3x4xf32, #other>
  %p = memref.expand_shape %a [[0, 1], [2]] output_shape [1, 3, 4] : memref<3x4xf32, #half> into memref<1x3x4xf32, strided<[24, 8, 1]>>
  %q = memref.expand_shape %b [[0, 1], [2]] output_shape [1, 3, 4] : memref<3x4xf32, #other> into memref<1x3x4xf32, strided<[24, 8, 1], offset: 4>>
  %less = memref.alloc() : memref<1x3x4xf32>
  %more = memref.alloc() : memref<1x3x4xf32>
  linalg.generic {indexing_maps = [#all, #all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %q : memref<1x3x4xf32, strided<[24, 8, 1]>>, memref<1x3x4xf32, strided<[24, 8, 1], offset: 4>>)
      outs(%less, %more : memref<1x3x4xf32>, memref<1x3x4xf32>) {
  ^bb0(%u: f32, %v: f32, %out: f32, %out2: f32):
    %min = arith.minimumf %u, %v : f32
    %max = arith.maximumf %u, %v : f32
    linalg.yield %min, %max : f32, f32
  }
  %l = memref.collapse_shape %less [[0, 1], [2]] : memref<1x3x4xf32> into memref<3x4xf32>
  memref.copy %l, %a : memref<3x4xf32> to memref<3x4xf32, #half>
  %m = memref.collapse_shape %more [[0, 1], [2]] : memref<1x3x4xf32> into memref<3x4xf32>
  memref.copy %m, %b : memref<3x4xf32> to memref<3x4xf32, #other>
  return
}

// -----

// Each half is computed from the other one: the second result goes where it is
// wanted, but the first would overwrite what is read in the next step.
// CHECK-LABEL: func.func @reversed
// CHECK-COUNT-2: memref.copy
#forth = affine_map<(d0) -> (d0)>
#back = affine_map<(d0) -> (3 - d0)>
#right = strided<[1], offset: 4>
func.func @reversed(%x: memref<8xf32>) {
  %a = memref.subview %x[0] [4] [1] : memref<8xf32> to memref<4xf32>
  %b = memref.subview %x[4] [4] [1] : memref<8xf32> to memref<4xf32, #right>
  %less = memref.alloc() : memref<4xf32>
  %more = memref.alloc() : memref<4xf32>
  linalg.generic {indexing_maps = [#back, #back, #forth, #forth], iterator_types = ["parallel"]}
      ins(%a, %b : memref<4xf32>, memref<4xf32, #right>) outs(%less, %more : memref<4xf32>, memref<4xf32>) {
  ^bb0(%u: f32, %v: f32, %out: f32, %out2: f32):
    linalg.yield %u, %v : f32, f32
  }
  memref.copy %less, %a : memref<4xf32> to memref<4xf32>
  memref.copy %more, %b : memref<4xf32> to memref<4xf32, #right>
  return
}

// -----

// Both results are wanted in the same place: only the last one may be computed
// there, and the copy of the first is in between.
// CHECK-LABEL: func.func @twice
// CHECK-COUNT-1: memref.copy
#same = affine_map<(d0) -> (d0)>
func.func @twice(%x: memref<4xf32>, %y: memref<4xf32>) {
  %first = memref.alloc() : memref<4xf32>
  %second = memref.alloc() : memref<4xf32>
  linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]}
      ins(%x : memref<4xf32>) outs(%first, %second : memref<4xf32>, memref<4xf32>) {
  ^bb0(%p: f32, %out: f32, %out2: f32):
    %n = arith.negf %p : f32
    linalg.yield %p, %n : f32, f32
  }
  memref.copy %first, %y : memref<4xf32> to memref<4xf32>
  memref.copy %second, %y : memref<4xf32> to memref<4xf32>
  return
}
