// RUN: ssa-opt %s --form-kernels --lower-kernels | FileCheck %s
// RUN: ssa-opt %s --form-kernels --lower-kernels="host-buffers=true" | FileCheck %s --check-prefix=HOST

// A loop that updates rows of a tensor from other rows: one function, whose
// result is written where the caller wants it, without a copy in the loop. The
// index is known to be in range, so nothing is left of its check.

#row = affine_map<(d0) -> (d0)>

// Seven trips are over before anyone could interrupt them.
// HOST-LABEL: func.func @main(
// HOST-NOT: kernel.role = "status"
// HOST-SAME: kernel.messages = []

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.+]]: memref<8x4xf32> {kernel.role = "input"}
// CHECK-SAME: %[[Y:.+]]: memref<8x4xf32> {kernel.role = "output"}
// CHECK-NOT: kernel.role = "scratch"
// CHECK-SAME: kernel.messages = []
// CHECK-NOT: memref.alloc()
// The argument is not written: the result starts as a copy of it.
// CHECK-DAG: %[[FROM:.+]] = memref.reinterpret_cast %[[X]] {{.*}} to memref<32xf32>
// CHECK-DAG: %[[TO:.+]] = memref.reinterpret_cast %[[Y]] {{.*}} to memref<32xf32>
// CHECK: %[[E:.+]] = memref.load %[[FROM]]
// CHECK: memref.store %[[E]], %[[TO]]
// In the loop only the result is read and written.
// CHECK-NOT: memref.load %[[X]]
// CHECK: %[[ABOVE:.+]] = memref.load %[[Y]]
// CHECK: %[[HERE:.+]] = memref.load %[[Y]]
// CHECK: %[[SUM:.+]] = arith.addf
// CHECK: memref.store %[[SUM]]
// CHECK-NOT: memref.load %[[X]]
// CHECK: return
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %r = scf.for %i = %c0 to %c7 step %c1 iter_args(%y = %x) -> (tensor<8x4xf32>) {
    %next = arith.addi %i, %c1 : index
    %fits = arith.cmpi sle, %next, %c7 : index
    cf.assert %fits, "IndexError: index is out of bounds"
    %above = tensor.extract_slice %y[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
    %here = tensor.extract_slice %y[%next, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
    %e = tensor.empty() : tensor<4xf32>
    %sum = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%above, %here : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%p: f32, %q: f32, %out: f32):
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    %z = tensor.insert_slice %sum into %y[%next, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
    scf.yield %z : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}

// A whole program gets its status buffer from the host, and stops when it says so.
// HOST-LABEL: func.func @repeats(
// HOST-SAME: memref<2xi64> {kernel.role = "status"}
// HOST-SAME: kernel.messages = ["interrupted"]
func.func @repeats(%x: tensor<4xf32>, %n: i64) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %trips = arith.index_cast %n : i64 to index
  %r = scf.for %i = %c0 to %trips step %c1 iter_args(%y = %x) -> (tensor<4xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %twice = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%y : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%p: f32, %out: f32):
      %s = arith.addf %p, %p : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    scf.yield %twice : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
