// RUN: ssa-opt %s -split-input-file --lower-kernel-abi | FileCheck %s

// An assertion that fails stores its number and returns; success stores 0, and
// the scalar results behind it. Denormal numbers are computed with in between.
// What uses the results before the status is read finds 0 in them: see @indices.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[N:.+]]: i64 {kernel.role = "input"}
// CHECK-SAME: %[[F:.+]]: f64 {kernel.role = "input"}
// CHECK-SAME: %[[OUT:.+]]: memref<4xf32> {kernel.role = "output"}
// CHECK-SAME: %[[STATUS:.+]]: memref<4xi64> {kernel.role = "status"}
// CHECK-SAME: kernel.messages = ["ValueError: first", "ValueError: second"]
// CHECK: llvm.inline_asm has_side_effects "stmxcsr
// No arithmetic on a number is moved in front of that.
// CHECK: %[[PINNED:.+]] = llvm.inline_asm has_side_effects "", "=x,0" %[[F]]
// CHECK: cf.cond_br %{{.+}}, ^[[REST:.+]], ^[[FAILED:.+]](%c1{{.*}} : i64)
// CHECK: ^[[REST]]:
// CHECK: cf.cond_br %{{.+}}, ^[[LAST:.+]], ^[[FAILED]](%c2{{.*}} : i64)
// CHECK: ^[[LAST]]:
// CHECK: memref.store %c0{{.*}}, %[[STATUS]]
// CHECK: memref.store %[[N]], %[[STATUS]]
// CHECK: %[[BITS:.+]] = arith.bitcast %[[PINNED]] : f64 to i64
// CHECK: memref.store %[[BITS]], %[[STATUS]]
// CHECK: llvm.inline_asm has_side_effects "ldmxcsr
// CHECK: return
// CHECK: ^[[FAILED]](%[[NUMBER:.+]]: i64):
// CHECK: memref.store %[[NUMBER]], %[[STATUS]]
// CHECK-COUNT-2: memref.store %c0{{.*}}, %[[STATUS]]
// CHECK: llvm.inline_asm has_side_effects "ldmxcsr
// CHECK: return
func.func @main(%n: i64 {kernel.role = "input"}, %f: f64 {kernel.role = "input"}, %out: memref<4xf32>) -> (i64, f64) {
  %c0 = arith.constant 0 : i64
  %positive = arith.cmpi sgt, %n, %c0 : i64
  cf.assert %positive, "ValueError: first"
  %zero = arith.constant 0.0 : f64
  %real = arith.cmpf ogt, %f, %zero : f64
  cf.assert %real, "ValueError: second"
  return %n, %f : i64, f64
}

// -----

// Bools have a byte each. The function that computes sizes stays as it is.
// CHECK: memref.global "private" constant @mask : memref<2xi8> = dense<[1, 0]>
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.+]]: memref<?xi8> {kernel.role = "input"}
// CHECK-SAME: %[[Y:.+]]: memref<16xi8> {kernel.role = "output"}
// CHECK: %[[BYTE:.+]] = memref.load %[[X]]
// CHECK: %[[BIT:.+]] = arith.trunci %[[BYTE]] : i8 to i1
// CHECK: %[[WIDE:.+]] = arith.extui %[[BIT]] : i1 to i8
// CHECK: memref.store %[[WIDE]], %[[Y]]
// CHECK-LABEL: func.func private @main.sizes(
// CHECK-NEXT: return
memref.global "private" constant @mask : memref<2xi1> = dense<[true, false]> {alignment = 64 : i64}
func.func @main(%x: memref<?xi1> {kernel.role = "input"}, %y: memref<16xi1>) {
  %c0 = arith.constant 0 : index
  %b = memref.load %x[%c0] : memref<?xi1>
  memref.store %b, %y[%c0] : memref<16xi1>
  return
}
func.func private @main.sizes(%n: index) -> index attributes {kernel.form = "sizes"} {
  return %n : index
}

// -----

// CHECK-LABEL: func.func @flags(
// CHECK: %[[BYTES:.+]] = vector.load %{{.+}} : memref<16xi8>, vector<16xi8>
// CHECK: arith.trunci %[[BYTES]] : vector<16xi8> to vector<16xi1>
func.func @flags(%x: memref<16xi1> {kernel.role = "input"}, %y: memref<16xi64>) {
  %c0 = arith.constant 0 : index
  %b = vector.load %x[%c0] : memref<16xi1>, vector<16xi1>
  %n = arith.extui %b : vector<16xi1> to vector<16xi64>
  vector.store %n, %y[%c0] : memref<16xi64>, vector<16xi64>
  return
}

// -----

// A kernel behind this one may use its integers as indices before the host has
// read that the check failed.
// CHECK-LABEL: func.func @indices(
// CHECK-SAME: memref<4x2xi64>
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<3x?xi64> {kernel.role = "output"}
// CHECK: ^{{.+}}(%{{.+}}: i64):
// CHECK: %[[FLAT:.+]] = memref.reinterpret_cast %[[OUT]] to offset: [0], sizes: [%[[END:.+]]], strides: [1]
// CHECK: ^[[HEAD:.+]](%[[AT:.+]]: index):
// CHECK: %[[MORE:.+]] = arith.cmpi slt, %[[AT]], %[[END]]
// CHECK: cf.cond_br %[[MORE]], ^[[BODY:.+]], ^[[BEHIND:.+]]
// CHECK: ^[[BODY]]:
// CHECK: memref.store %c0{{.*}}, %[[FLAT]][%[[AT]]]
// CHECK: cf.br ^[[HEAD]]
// CHECK: ^[[BEHIND]]:
func.func @indices(%x: memref<4x2xi64> {kernel.role = "input"}, %ok: i1 {kernel.role = "input"}, %out: memref<3x?xi64>, %f: memref<2xf32>) {
  cf.assert %ok, "ValueError: no"
  return
}

// -----

// A check that always fails ends the kernel: what is behind it goes. A loop that
// has no way in any more would be folded for ever.
// CHECK-LABEL: func.func @always(
// CHECK: arith.cmpi slt
// CHECK: cf.cond_br %{{.+}}, ^[[BODY:.+]], ^[[END:.+]]
// CHECK: ^[[BODY]]:
// CHECK: cf.br ^[[FAILED:.+]](%{{.+}} : i64)
// CHECK-NOT: arith.addi
// CHECK: ^[[END]]:
// CHECK: ^[[FAILED]](%{{.+}}: i64):
func.func @always(%n: i64 {kernel.role = "input"}, %out: memref<4xf32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %false = arith.constant false
  cf.br ^head(%c0 : i64)
^head(%i: i64):
  %more = arith.cmpi slt, %i, %n : i64
  cf.cond_br %more, ^body, ^end
^body:
  cf.assert %false, "ValueError: no"
  %next = arith.addi %i, %c1 : i64
  cf.br ^head(%next : i64)
^end:
  return
}

// -----

// What the message of an assertion says of the run is kept in the last words of
// the status, behind the scalar results.
// CHECK-LABEL: func.func @numbers(
// CHECK-SAME: %[[BAD:.+]]: i1 {{.*}}, %[[N:.+]]: i64 {{.*}}, %[[STATUS:.+]]: memref<5xi64> {kernel.role = "status"}
// CHECK-SAME: kernel.notes = 2 : i64
// CHECK: cf.cond_br %[[BAD]], ^[[RAISE:.+]], ^[[OK:.+]]
// CHECK: ^[[RAISE]]:
// CHECK: memref.store %[[N]], %[[STATUS]][%c3]
// CHECK: memref.store %{{.+}}, %[[STATUS]][%c4]
// CHECK: ^[[OK]]:
// CHECK: memref.store %[[N]], %[[STATUS]][%c2]
// CHECK: return
// CHECK: memref.store %{{.+}}, %[[STATUS]][%c0]
// CHECK: memref.store %{{.+}}, %[[STATUS]][%c2]
// CHECK-NOT: memref.store
// CHECK: return
// CHECK-NOT: @kernel.note
func.func private @kernel.note(i64, i64)
func.func @numbers(%bad: i1 {kernel.role = "input"}, %n: i64 {kernel.role = "input"}) -> i64 {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %false = arith.constant false
  cf.cond_br %bad, ^raise, ^ok
^raise:
  call @kernel.note(%c0, %n) : (i64, i64) -> ()
  call @kernel.note(%c1, %c1) : (i64, i64) -> ()
  cf.assert %false, "n and 1"
  cf.br ^ok
^ok:
  return %n : i64
}
