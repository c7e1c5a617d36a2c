// RUN: ssa-opt %s -split-input-file -verify-diagnostics --place-scratch="max-stack=64 max-reserved=4096 check-workspace" | FileCheck %s

// A caller that keeps its workspace knows how much this kernel needs.
// CHECK-LABEL: func.func @static(
// CHECK-NOT: "workspace"
// CHECK-LABEL: func.func private @static.sizes
func.func @static() {
  %large = memref.alloc() : memref<100xf32>
  return
}

// -----

// Of this one it may have too little.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME: %[[SPACE:[a-z0-9]+]]: memref<?xi8> {kernel.role = "scratch"}
// CHECK: %[[GIVEN:.+]] = memref.dim %[[SPACE]]
// CHECK: %[[HOLDS:.+]] = arith.cmpi sle, %{{.+}}, %[[GIVEN]]
// CHECK: cf.assert %[[HOLDS]], "workspace"
func.func @dynamic(%x: memref<?xf32> {kernel.role = "input"}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %rows = memref.alloc(%n) : memref<?x3xf32>
  return
}

// -----

// A buffer whose size data decides begins behind what is planned (448 bytes), and
// the next one behind it, in branches too: they may end in it.
// CHECK-LABEL: func.func @late(
// CHECK-SAME: %[[SPACE:[a-z0-9]+]]: memref<?xi8> {kernel.role = "scratch"}
// CHECK: %[[PLANNED:.+]] = arith.addi %{{.+}}, %c448
// CHECK: %[[GIVEN:.+]] = memref.dim %[[SPACE]]
// CHECK: %[[TOP:.+]] = memref.alloca() : memref<i64>
// CHECK: %[[FIRST:.+]] = arith.index_cast %[[PLANNED]] : index to i64
// CHECK: memref.store %[[FIRST]], %[[TOP]][]
// CHECK: %[[LOADED:.+]] = memref.load %[[TOP]][]
// CHECK: %[[BEGIN:.+]] = arith.index_cast %[[LOADED]] : i64 to index
// CHECK: cf.assert %{{.+}}, "unsupported: a kernel with more than 8 GiB of scratch memory
// CHECK: %[[END:.+]] = arith.addi %[[BEGIN]], %{{.+}} : index
// CHECK: %[[HOLDS:.+]] = arith.cmpi sle, %[[END]], %[[GIVEN]]
// CHECK: cf.assert %[[HOLDS]], "workspace"
// CHECK: %[[NEXT:.+]] = arith.index_cast %[[END]] : index to i64
// CHECK: memref.store %[[NEXT]], %[[TOP]][]
// CHECK: memref.view %[[SPACE]][%[[BEGIN]]][%{{.+}}] : memref<?xi8> to memref<?xf32>
// CHECK: scf.if
// CHECK: memref.load %[[TOP]][]
// CHECK: memref.view %[[SPACE]]{{.*}} to memref<?xf64>
// CHECK: memref.load %[[TOP]][]
// CHECK: memref.view %[[SPACE]]{{.*}} to memref<?xi32>
func.func @late(%sizes: memref<3xindex> {kernel.role = "input"}, %c: i1 {kernel.role = "input"}) {
  %c0 = arith.constant 0 : index
  %large = memref.alloc() : memref<100xf32>
  %n = memref.load %sizes[%c0] : memref<3xindex>
  %one = memref.alloc(%n) : memref<?xf32>
  scf.if %c {
    %two = memref.alloc(%n) : memref<?xf64>
  }
  %three = memref.alloc(%n) : memref<?xi32>
  return
}

// -----

// Each trip of a loop begins where the first one did.
// CHECK-LABEL: func.func @late_in_loop(
// CHECK: %[[TOP:.+]] = memref.alloca() : memref<i64>
// CHECK: %[[LOADED:.+]] = memref.load %[[TOP]][]
// CHECK: %[[BEGIN:.+]] = arith.index_cast %[[LOADED]] : i64 to index
// CHECK: scf.for
// CHECK-NEXT: %[[AGAIN:.+]] = arith.index_cast %[[BEGIN]] : index to i64
// CHECK-NEXT: memref.store %[[AGAIN]], %[[TOP]][]
// CHECK: memref.view
func.func @late_in_loop(%sizes: memref<9xindex> {kernel.role = "input"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %n = memref.load %sizes[%i] : memref<9xindex>
    %one = memref.alloc(%n) : memref<?xf32>
  }
  return
}

// -----

// The address of a result is its offset in the workspace: no stack memory, which
// small buffers take otherwise.
// CHECK-LABEL: func.func @result(
// CHECK: %[[OFFSET:.+]] = arith.constant 0 : index
// CHECK-NOT: memref.alloca
// CHECK: memref.view %{{.+}}[%[[OFFSET]]][]
// CHECK-NOT: memref.extract_aligned_pointer_as_index
// CHECK: %[[PLACE:.+]] = arith.index_cast %[[OFFSET]] : index to i64
// CHECK: return %[[PLACE]]
func.func @result() -> i64 {
  %small = memref.alloc() : memref<2xf32>
  %cast = memref.cast %small : memref<2xf32> to memref<?xf32>
  %place = memref.extract_aligned_pointer_as_index %cast : memref<?xf32> -> index
  %number = arith.index_cast %place : index to i64
  return %number : i64
}

// -----

// If it changes an argument it cannot begin again.
func.func @written(%x: memref<3xindex> {kernel.role = "written"}) {
  %c0 = arith.constant 0 : index
  %n = memref.load %x[%c0] : memref<3xindex>
  // expected-error @below {{unsupported: scratch memory whose size depends on data}}
  %part = memref.alloc(%n) : memref<?xf32>
  return
}

func.func @late(%sizes: memref<3xindex> {kernel.role = "input"}, %c: i1 {kernel.role = "input"}) {
  %c0 = arith.constant 0 : index
  %large = memref.alloc() : memref<100xf32>
  %n = memref.load %sizes[%c0] : memref<3xindex>
  %one = memref.alloc(%n) : memref<?xf32>
  scf.if %c {
    %two = memref.alloc(%n) : memref<?xf64>
  }
  %three = memref.alloc(%n) : memref<?xi32>
  return
}

// -----

// Each trip of a loop begins where the first one did.
// CHECK-LABEL: func.func @late_in_loop(
// CHECK: %[[TOP:.+]] = memref.alloca() : memref<i64>
// CHECK: %[[LOADED:.+]] = memref.load %[[TOP]][]
// CHECK: %[[BEGIN:.+]] = arith.index_cast %[[LOADED]] : i64 to index
// CHECK: scf.for
// CHECK-NEXT: %[[AGAIN:.+]] = arith.index_cast %[[BEGIN]] : index to i64
// CHECK-NEXT: memref.store %[[AGAIN]], %[[TOP]][]
// CHECK: memref.view
func.func @late_in_loop(%sizes: memref<9xindex> {kernel.role = "input"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %n = memref.load %sizes[%i] : memref<9xindex>
    %one = memref.alloc(%n) : memref<?xf32>
  }
  return
}

// -----

// The address of a result is its offset in the workspace: no stack memory, which
// small buffers take otherwise.
// CHECK-LABEL: func.func @result(
// CHECK: %[[OFFSET:.+]] = arith.constant 0 : index
// CHECK-NOT: memref.alloca
// CHECK: memref.view %{{.+}}[%[[OFFSET]]][]
// CHECK-NOT: memref.extract_aligned_pointer_as_index
// CHECK: %[[PLACE:.+]] = arith.index_cast %[[OFFSET]] : index to i64
// CHECK: return %[[PLACE]]
func.func @result() -> i64 {
  %small = memref.alloc() : memref<2xf32>
  %cast = memref.cast %small : memref<2xf32> to memref<?xf32>
  %place = memref.extract_aligned_pointer_as_index %cast : memref<?xf32> -> index
  %number = arith.index_cast %place : index to i64
  return %number : i64
}

// -----

// If it changes an argument it cannot begin again.
func.func @written(%x: memref<3xindex> {kernel.role = "written"}) {
  %c0 = arith.constant 0 : index
  %n = memref.load %x[%c0] : memref<3xindex>
  // expected-error @below {{unsupported: scratch memory whose size depends on data}}
  %part = memref.alloc(%n) : memref<?xf32>
  return
}
