// RUN: ssa-opt %s -split-input-file -verify-diagnostics --place-scratch="max-stack=64 max-reserved=4096" | FileCheck %s

// What is small is on the stack, the rest in the workspace, at multiples of 64.
// CHECK-LABEL: func.func @static(
// CHECK-SAME: %[[SPACE:.+]]: memref<?xi8> {kernel.role = "scratch"}
// CHECK: memref.alloca() : memref<16xi1>
// CHECK: memref.view %[[SPACE]][%{{.+}}][] : memref<?xi8> to memref<100xf32>
// CHECK-NOT: memref.alloc()
// CHECK-LABEL: func.func private @static.sizes() -> index
// CHECK: %[[BYTES:.+]] = arith.constant 448 : index
// CHECK: %[[END:.+]] = arith.addi %{{.+}}, %[[BYTES]]
// CHECK: return %[[END]]
func.func @static() {
  %small = memref.alloc() : memref<16xi1>
  %large = memref.alloc() : memref<100xf32>
  return
}

// -----

// The sizes of inputs and numbers among the arguments decide, before the call:
// the result has n + 1 elements, the scratch memory n rows of three.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?xf32> {kernel.role = "input"}
// CHECK-SAME: %[[SPACE:[a-z0-9]+]]: memref<?xi8> {kernel.role = "scratch"}
// CHECK: %[[N:.+]] = memref.dim %[[X]]
// CHECK: cf.assert %{{.+}}, "unsupported: a kernel with more than 8 GiB of scratch memory
// CHECK: memref.view %[[SPACE]][%{{.+}}][%{{.+}}] : memref<?xi8> to memref<?x3xf32>
// CHECK: return %{{.+}} : i64
// CHECK-LABEL: func.func private @dynamic.sizes(
// CHECK-SAME: %[[SIZE:.+]]: index, %[[K:.+]]: i64) -> (index, index)
// CHECK: %[[MORE:.+]] = arith.addi %[[SIZE]], %c1
// What would be too large is 0: the kernel asserts where it begins to use it.
// CHECK: %[[COUNT:.+]] = arith.maxsi %[[MORE]]
// CHECK: %[[FITS:.+]] = arith.cmpf ole
// CHECK: %[[GIVEN:.+]] = arith.select %[[FITS]], %[[COUNT]]
// CHECK: %[[ROWS:.+]] = arith.maxsi %[[SIZE]]
// CHECK: arith.cmpf ole
// CHECK: arith.muli %{{.+}}, %[[ROWS]]
// CHECK: return %[[GIVEN]], %{{.+}} : index, index
func.func @dynamic(%x: memref<?xf32> {kernel.role = "input"}, %k: i64 {kernel.role = "input"}, %out: memref<?xf32>) -> (i64, index)
    attributes {kernel.sizes = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %more = arith.addi %n, %c1 : index
  %rows = memref.alloc(%n) : memref<?x3xf32>
  return %k, %more : i64, index
}

// -----

// A slice has at most the elements of what it is cut from: that much is kept for
// each trip. As integers wrap around, it is asserted.
// CHECK-LABEL: func.func @slices(
// CHECK: %[[HOLDS:.+]] = arith.cmpi sle
// CHECK: %[[BOTH:.+]] = arith.andi %{{.+}}, %[[HOLDS]]
// CHECK: cf.assert %[[BOTH]]
// CHECK: memref.view
// CHECK-LABEL: func.func private @slices.sizes(
// CHECK-SAME: %[[SIZE:.+]]: index
// CHECK: %[[MOST:.+]] = arith.maxsi %[[SIZE]]
// CHECK: %[[COUNT:.+]] = arith.maxsi %[[MOST]]
// CHECK: arith.constant 4 : index
// CHECK: arith.muli %{{.+}}, %[[COUNT]]
func.func @slices(%x: memref<?xf32> {kernel.role = "input"}, %starts: memref<3xindex> {kernel.role = "input"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %c3 step %c1 {
    %given = memref.load %starts[%i] : memref<3xindex>
    %above = arith.maxsi %given, %c0 : index
    %start = arith.minsi %above, %n : index
    %left = arith.subi %n, %start : index
    %size = arith.maxsi %left, %c0 : index
    %part = memref.alloc(%size) : memref<?xf32>
  }
  return
}

// -----

// What the ranges of integers allow.
// CHECK-LABEL: func.func private @ranges.sizes(
// CHECK: arith.constant 448 : index
func.func @ranges() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  scf.for %i = %c0 to %c100 step %c1 {
    %part = memref.alloc(%i) : memref<?xf32>
  }
  return
}

// -----

func.func @unbounded(%sizes: memref<3xindex> {kernel.role = "input"}) {
  %c0 = arith.constant 0 : index
  %n = memref.load %sizes[%c0] : memref<3xindex>
  // expected-error @below {{unsupported: scratch memory whose size depends on data}}
  %part = memref.alloc(%n) : memref<?xf32>
  return
}

// -----

func.func @result(%sizes: memref<3xindex> {kernel.role = "input"}, %out: memref<?xf32>) -> index attributes {kernel.sizes = 1 : i64} {
  %c0 = arith.constant 0 : index
  %n = memref.load %sizes[%c0] : memref<3xindex>
  // expected-error @below {{unsupported: a result whose size depends on data}}
  return %n : index
}
