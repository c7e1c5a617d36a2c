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
// the next one behind it; one in a branch behind that. What comes after the branch
// takes its place.
// CHECK-LABEL: func.func @late(
// CHECK-SAME: %[[SPACE:[a-z0-9]+]]: memref<?xi8> {kernel.role = "scratch"}
// CHECK: %[[PLANNED:.+]] = arith.addi %{{.+}}, %c448
// CHECK: %[[GIVEN:.+]] = memref.dim %[[SPACE]]
// CHECK: cf.assert %{{.+}}, "unsupported: a kernel with more than 8 GiB of scratch memory
// CHECK: %[[FIRST:.+]] = arith.addi %[[PLANNED]], %{{.+}} : index
// CHECK: %[[HOLDS:.+]] = arith.cmpi sle, %[[FIRST]], %[[GIVEN]]
// CHECK: cf.assert %[[HOLDS]], "workspace"
// CHECK: memref.view %[[SPACE]][%[[PLANNED]]][%{{.+}}] : memref<?xi8> to memref<?xf32>
// CHECK: scf.if
// CHECK: memref.view %[[SPACE]][%[[FIRST]]][%{{.+}}] : memref<?xi8> to memref<?xf64>
// CHECK: memref.view %[[SPACE]][%[[FIRST]]][%{{.+}}] : memref<?xi8> to memref<?xi32>
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

// If it changes an argument it cannot begin again.
func.func @written(%x: memref<3xindex> {kernel.role = "written"}) {
  %c0 = arith.constant 0 : index
  %n = memref.load %x[%c0] : memref<3xindex>
  // expected-error @below {{unsupported: scratch memory whose size depends on data}}
  %part = memref.alloc(%n) : memref<?xf32>
  return
}
