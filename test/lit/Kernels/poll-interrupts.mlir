// RUN: ssa-opt %s -split-input-file --poll-interrupts | FileCheck %s

// A counted loop looks in each trip whether it is to stop, a loop in it does not:
// the one around it will. A while loop does wherever it is.
// CHECK-LABEL: func.func @loops(
// CHECK-SAME: %[[STATUS:[a-z0-9]+]]: memref<3xi64> {kernel.role = "status"}
// CHECK: %[[BASE:.+]] = memref.extract_aligned_pointer_as_index %[[STATUS]]
// CHECK: %[[FIRST:.+]] = arith.index_cast %[[BASE]]
// CHECK: %[[PLACE:.+]] = arith.addi %[[FIRST]], %c8
// CHECK: %[[WORD:.+]] = llvm.inttoptr %[[PLACE]]
// CHECK: scf.for
// CHECK-NEXT: %[[TOLD:.+]] = llvm.load volatile %[[WORD]]
// CHECK-NEXT: %[[GO:.+]] = arith.cmpi eq, %[[TOLD]], %c0_i64
// CHECK-NEXT: cf.assert %[[GO]], "interrupted"
// CHECK-NEXT: scf.for
// CHECK-NOT: llvm.load
// CHECK: scf.while
// CHECK-NEXT: llvm.load volatile %[[WORD]]
func.func @loops(%x: memref<4xf32>, %n: index, %limit: f32, %k: i64) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      memref.store %limit, %x[%c0] : memref<4xf32>
    }
    scf.while : () -> () {
      %v = memref.load %x[%i] : memref<4xf32>
      %more = arith.cmpf olt, %v, %limit : f32
      scf.condition(%more)
    } do {
      scf.yield
    }
  }
  return %k : i64
}

// -----

// Without a loop it takes no time worth it.
// CHECK-LABEL: func.func @straight(%{{[a-z0-9]+}}: memref<4xf32>)
// CHECK-NOT: llvm.load
func.func @straight(%x: memref<4xf32>) {
  return
}

// -----

// A few thousand operations are over at once.
// CHECK-LABEL: func.func @short(%{{[a-z0-9]+}}: memref<4xf32>)
// CHECK-NOT: llvm.load
func.func @short(%x: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c30 = arith.constant 30 : index
  scf.for %i = %c0 to %c30 step %c1 {
    scf.for %j = %c0 to %c30 step %c1 {
      linalg.generic {
        indexing_maps = [affine_map<(d0) -> (d0)>],
        iterator_types = ["parallel"]
      } outs(%x : memref<4xf32>) {
      ^bb0(%out: f32):
        %twice = arith.addf %out, %out : f32
        linalg.yield %twice : f32
      }
    }
  }
  return
}

// -----

// The same number of trips over more elements is not.
// CHECK-LABEL: func.func @long(
// CHECK: scf.for
// CHECK-NEXT: llvm.load volatile
func.func @long(%x: memref<4000xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c900 = arith.constant 900 : index
  scf.for %i = %c0 to %c900 step %c1 {
    linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]
    } outs(%x : memref<4000xf32>) {
    ^bb0(%out: f32):
      %twice = arith.addf %out, %out : f32
      linalg.yield %twice : f32
    }
  }
  return
}
