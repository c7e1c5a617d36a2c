// RUN: ssa-opt %s --pass-pipeline="builtin.module(func.func(distribute-to-threads{threads=64}))" --split-input-file | FileCheck %s

#one = affine_map<(d0) -> (d0)>

// Each thread computes every 64th element. No barrier is between the two ops:
// each thread reads what it has written itself.
// CHECK-LABEL: func.func @elementwise(
// CHECK-SAME: %[[X:.+]]: memref<320xf32>, %[[Y:.+]]: memref<320xf32>)
// CHECK-SAME: kernel.threads = 64
func.func @elementwise(%x: memref<320xf32>, %y: memref<320xf32>) attributes {kernel.form = "kernel"} {
  // CHECK: %[[T:.+]] = gpu.thread_id x
  // CHECK: scf.for %[[I:.+]] = %[[T]] to %c320{{.*}} step %c64
  // CHECK-NEXT: %[[A:.+]] = memref.load %[[X]][%[[I]]]
  // CHECK-NEXT: %[[E:.+]] = math.exp %[[A]]
  // CHECK-NEXT: memref.store %[[E]], %[[Y]][%[[I]]]
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%x : memref<320xf32>) outs(%y : memref<320xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  }
  // CHECK-NOT: gpu.barrier
  // CHECK: scf.for
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%y : memref<320xf32>) {
  ^bb0(%b: f32):
    %n = arith.negf %b : f32
    linalg.yield %n : f32
  }
  return
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>

// A warp adds up a row; its threads exchange what they have, and the first one
// of them stores the sum.
// CHECK-LABEL: func.func @sums(
// CHECK-SAME: %[[X:.+]]: memref<8x320xf32>, %[[Y:.+]]: memref<8xf32>)
func.func @sums(%x: memref<8x320xf32>, %y: memref<8xf32>) attributes {kernel.form = "kernel"} {
  // CHECK: %[[T:.+]] = gpu.thread_id x
  // CHECK: %[[WARP:.+]] = arith.divui %[[T]], %c32
  // CHECK: %[[LANE:.+]] = arith.remui %[[T]], %c32
  // CHECK: scf.for %[[I:.+]] = %[[WARP]] to %c8{{.*}} step %c2
  // CHECK: %[[SUM:.+]] = scf.for %[[J:.+]] = %[[LANE]] to %c320{{.*}} step %c32{{.*}} iter_args
  // CHECK: memref.load %[[X]][%[[I]], %[[J]]]
  // CHECK: gpu.shuffle xor %[[SUM]]
  // CHECK-COUNT-4: gpu.shuffle xor
  // CHECK: %[[FIRST:.+]] = arith.cmpi eq, %[[LANE]]
  // CHECK: scf.if %[[FIRST]]
  // CHECK: memref.store %{{.*}}, %[[Y]][%[[I]]]
  linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x320xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#one = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// Two warps add up half of the numbers each; the halves meet behind a barrier.
// CHECK-LABEL: func.func @one_sum(
func.func @one_sum(%x: memref<640xf32>, %y: memref<f32>) attributes {kernel.form = "kernel"} {
  // CHECK: %[[PARTS:.+]] = memref.alloc() : memref<2xf32>
  // CHECK: gpu.barrier
  // CHECK: scf.for
  // CHECK: memref.store %{{.*}}, %[[PARTS]]
  // CHECK: gpu.barrier
  // CHECK: memref.load %[[PARTS]]
  linalg.generic {indexing_maps = [#one, #none], iterator_types = ["reduction"]}
      ins(%x : memref<640xf32>) outs(%y : memref<f32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A loop over numbers is for the first thread. The others get its result
// through memory, and stop if it was stopped.
// CHECK-LABEL: func.func @scan(
func.func @scan(%x: memref<9xi64>, %n: index) -> i64 attributes {kernel.form = "kernel"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0 : i64
  // CHECK: scf.if %{{.+}} {
  // CHECK: scf.for
  // CHECK: cf.assert %{{.+}}, "index"
  // CHECK: memref.store
  // CHECK: } {kernel.one_thread}
  // CHECK-NEXT: gpu.barrier
  // CHECK: cf.assert %{{.+}}, "stopped"
  // CHECK: %[[SUM:.+]] = memref.load
  // CHECK: return %[[SUM]]
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> i64 {
    %inside = arith.cmpi slt, %i, %c9 : index
    cf.assert %inside, "index"
    %a = memref.load %x[%i] : memref<9xi64>
    %t = arith.addi %s, %a : i64
    memref.store %t, %x[%i] : memref<9xi64>
    scf.yield %t : i64
  }
  return %sum : i64
}

// -----

#one = affine_map<(d0) -> (d0)>

// What a trip writes, the next one reads in other threads.
// CHECK-LABEL: func.func @swaps(
func.func @swaps(%x: memref<8xf32>, %y: memref<8xf32>, %n: index) attributes {kernel.form = "kernel"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: scf.for
  // CHECK-NEXT: gpu.barrier
  // CHECK: scf.for
  // CHECK: memref.store %{{.*}}, %arg1
  // CHECK: gpu.barrier
  // CHECK: scf.for
  // CHECK: memref.store %{{.*}}, %arg0
  scf.for %i = %c0 to %n step %c1 {
    linalg.generic {indexing_maps = [affine_map<(d0) -> (7 - d0)>, #one], iterator_types = ["parallel"]}
        ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    }
    linalg.generic {indexing_maps = [affine_map<(d0) -> (7 - d0)>, #one], iterator_types = ["parallel"]}
        ins(%y : memref<8xf32>) outs(%x : memref<8xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    }
  }
  return
}
