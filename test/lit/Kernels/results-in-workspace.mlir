// RUN: ssa-opt %s -split-input-file --results-to-outputs="host-buffers" | FileCheck %s

// The host cannot make a result whose size depends on data before the call: it
// stays an allocation, of which the function returns the address and the size. One
// whose size is known at entry is an argument.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?xi64> {kernel.role = "input"},
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<?xf32>) -> (i1, i64, i64, index)
// CHECK-SAME: kernel.placed = array<i64: 0>, kernel.sizes = 1
// CHECK: %[[FIRST:.+]] = memref.load %[[X]]
// CHECK: %[[N:.+]] = arith.index_cast %[[FIRST]] : i64 to index
// CHECK: %[[CHOSEN:.+]] = memref.alloc(%[[N]])
// CHECK: %[[AT:.+]] = memref.extract_aligned_pointer_as_index %[[CHOSEN]]
// CHECK: %[[PLACE:.+]] = arith.index_cast %[[AT]] : index to i64
// CHECK: %[[SIZE:.+]] = arith.index_cast %[[N]] : index to i64
// CHECK: return %{{.+}}, %[[PLACE]], %[[SIZE]], %{{.+}} : i1, i64, i64, index
func.func @main(%x: memref<?xi64> {kernel.role = "input"}, %c: i1) -> (memref<?xf32>, i1, memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %d = memref.dim %x, %c0 : memref<?xi64>
  %given = memref.alloc(%d) : memref<?xf32>
  %first = memref.load %x[%c0] : memref<?xi64>
  %n = arith.index_cast %first : i64 to index
  %chosen = memref.alloc(%n) : memref<?xf32>
  return %chosen, %c, %given : memref<?xf32>, i1, memref<?xf32>
}

// -----

// A result that is returned twice, or of a branch, is copied.
// CHECK-LABEL: func.func @copied(
// CHECK-SAME: kernel.placed = array<i64: 0, 1, 2>
// CHECK: %[[ONE:.+]] = memref.alloc(
// CHECK: %[[EITHER:.+]] = scf.if
// CHECK: memref.extract_aligned_pointer_as_index %[[ONE]]
// CHECK: memref.copy %[[ONE]], %[[AGAIN:.+]] :
// CHECK: memref.extract_aligned_pointer_as_index %[[AGAIN]]
// CHECK: memref.copy %[[EITHER]], %[[OWN:.+]] :
// CHECK: memref.extract_aligned_pointer_as_index %[[OWN]]
func.func @copied(%x: memref<1xindex> {kernel.role = "input"}, %c: i1) -> (memref<?xf32>, memref<?xf32>, memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.load %x[%c0] : memref<1xindex>
  %one = memref.alloc(%n) : memref<?xf32>
  %either = scf.if %c -> (memref<?xf32>) {
    scf.yield %one : memref<?xf32>
  } else {
    %other = memref.alloc(%n) : memref<?xf32>
    scf.yield %other : memref<?xf32>
  }
  return %one, %one, %either : memref<?xf32>, memref<?xf32>, memref<?xf32>
}

// -----

// A result as large as another one that is an argument by now.
// CHECK-LABEL: func.func @same_size(
// CHECK-SAME: %[[X:.+]]: memref<?xf32> {{.*}}, %[[FIRST:.+]]: memref<?xf32>)
// CHECK: %[[SIZE:.+]] = memref.dim %[[FIRST]]
// CHECK: memref.alloc(%[[SIZE]])
func.func @same_size(%x: memref<?xf32> {kernel.role = "input"}) -> (memref<?xf32>, memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %a = memref.alloc(%n) : memref<?xf32>
  %m = memref.dim %a, %c0 : memref<?xf32>
  %b = memref.alloc(%m) : memref<?xf32>
  return %a, %b : memref<?xf32>, memref<?xf32>
}
