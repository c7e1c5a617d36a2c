// RUN: ssa-opt %s --drop-carried-buffers | FileCheck %s

// In the loop and behind it the buffer is the one that the loop begins with.
// CHECK-LABEL: func.func @counted
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<4xf32>
// CHECK: scf.for
// CHECK: memref.store %{{.+}}, %[[X]]
// CHECK: memref.load %[[X]]
func.func @counted(%x: memref<4xf32>, %n: index, %f: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (memref<4xf32>) {
    memref.store %f, %y[%c0] : memref<4xf32>
    scf.yield %y : memref<4xf32>
  }
  %first = memref.load %r[%c0] : memref<4xf32>
  return %first : f32
}

// CHECK-LABEL: func.func @decided
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<4xf32>
// CHECK: scf.while
// CHECK: memref.load %[[X]]
// CHECK: scf.condition
// CHECK: memref.store %{{.+}}, %[[X]]
// CHECK: memref.load %[[X]]
func.func @decided(%x: memref<4xf32>, %n: i64, %f: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %r:2 = scf.while (%y = %x, %k = %n) : (memref<4xf32>, i64) -> (memref<4xf32>, i64) {
    %v = memref.load %y[%c0] : memref<4xf32>
    %more = arith.cmpf olt, %v, %f : f32
    scf.condition(%more) %y, %k : memref<4xf32>, i64
  } do {
  ^bb0(%y: memref<4xf32>, %k: i64):
    memref.store %f, %y[%c0] : memref<4xf32>
    scf.yield %y, %k : memref<4xf32>, i64
  }
  %first = memref.load %r#0[%c0] : memref<4xf32>
  return %first : f32
}

// The shape of a buffer with dynamic strides cannot be collapsed: bufferization
// collapses a copy of it, whose contents have to be in the buffer afterwards.
// CHECK-LABEL: func.func @copied
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<2x3xf32, strided<[?, ?], offset: ?>>
// CHECK: scf.for
// CHECK: %[[COPY:.+]] = memref.alloc()
// CHECK: memref.copy %[[X]], %[[COPY]]
// CHECK: memref.store
// CHECK: %[[NEW:.+]] = memref.cast
// CHECK: memref.copy %[[NEW]], %[[X]]
// CHECK: memref.load %[[X]]
#strided = strided<[?, ?], offset: ?>
func.func @copied(%x: memref<2x3xf32, #strided>, %n: index, %f: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (memref<2x3xf32, #strided>) {
    %copy = memref.alloc() : memref<2x3xf32>
    memref.copy %y, %copy : memref<2x3xf32, #strided> to memref<2x3xf32>
    %row = memref.collapse_shape %copy [[0, 1]] : memref<2x3xf32> into memref<6xf32>
    memref.store %f, %row[%c1] : memref<6xf32>
    %matrix = memref.expand_shape %row [[0, 1]] output_shape [2, 3] : memref<6xf32> into memref<2x3xf32>
    %new = memref.cast %matrix : memref<2x3xf32> to memref<2x3xf32, #strided>
    scf.yield %new : memref<2x3xf32, #strided>
  }
  %first = memref.load %r[%c0, %c1] : memref<2x3xf32, #strided>
  return %first : f32
}

// What both branches yield is in the buffer: nothing is copied.
// CHECK-LABEL: func.func @branched
// CHECK-NOT: memref.copy
func.func @branched(%x: memref<4xf32>, %n: index, %f: f32, %b: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (memref<4xf32>) {
    %z = scf.if %b -> (memref<4xf32>) {
      memref.store %f, %y[%c0] : memref<4xf32>
      scf.yield %y : memref<4xf32>
    } else {
      scf.yield %y : memref<4xf32>
    }
    scf.yield %z : memref<4xf32>
  }
  %first = memref.load %r[%c0] : memref<4xf32>
  return %first : f32
}
