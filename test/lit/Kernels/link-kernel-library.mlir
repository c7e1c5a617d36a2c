// RUN: ssa-opt %s -split-input-file -verify-diagnostics --link-kernel-library | FileCheck %s
// RUN: ssa-opt %s -split-input-file -verify-diagnostics --link-kernel-library --form-kernels --lower-kernels | FileCheck %s --check-prefix=KERNEL

// The body of the library's function takes the place of the call; what it calls
// itself, too. As a kernel it has the keys, and what belongs to them, twice, and
// the counts of the values of a byte: nothing else is allocated or copied.
// CHECK-LABEL: func.func @main
// CHECK-NOT: call
// CHECK: scf.if
// CHECK-NOT: func.func
// KERNEL-LABEL: func.func @main
// KERNEL-SAME: kernel.copies = 0
// KERNEL-SAME: kernel.loop_copies = 0
func.func @main(%x: tensor<3x100xi64>) -> tensor<3x100xi64> {
  %keys = tensor.cast %x : tensor<3x100xi64> to tensor<?x?xi64>
  %order = func.call @ssa_compiler.order(%keys) : (tensor<?x?xi64>) -> tensor<?x?xi64>
  %result = tensor.cast %order : tensor<?x?xi64> to tensor<3x100xi64>
  return %result : tensor<3x100xi64>
}
func.func private @ssa_compiler.order(tensor<?x?xi64>) -> tensor<?x?xi64>

// -----

// Keys that are small enough are one number with their places.
// CHECK-LABEL: func.func @low
// CHECK-NOT: call
// KERNEL-LABEL: func.func @low
// KERNEL-SAME: kernel.copies = 0
// KERNEL-SAME: kernel.loop_copies = 0
func.func @low(%x: tensor<3x100xi64>) -> (tensor<3x100xi64>, tensor<3x60xi64>) {
  %k = arith.constant 60 : i64
  %keys = tensor.cast %x : tensor<3x100xi64> to tensor<?x?xi64>
  %order = func.call @ssa_compiler.order_low(%keys) : (tensor<?x?xi64>) -> tensor<?x?xi64>
  %some = func.call @ssa_compiler.smallest_low(%keys, %k) : (tensor<?x?xi64>, i64) -> tensor<?x?xi64>
  %result = tensor.cast %order : tensor<?x?xi64> to tensor<3x100xi64>
  %places = tensor.cast %some : tensor<?x?xi64> to tensor<3x60xi64>
  return %result, %places : tensor<3x100xi64>, tensor<3x60xi64>
}
func.func private @ssa_compiler.order_low(tensor<?x?xi64>) -> tensor<?x?xi64>
func.func private @ssa_compiler.smallest_low(tensor<?x?xi64>, i64) -> tensor<?x?xi64>

// -----

// One element of a row is found without sorting it.
// CHECK-LABEL: func.func @nth
// CHECK-NOT: call
// KERNEL-LABEL: func.func @nth
// KERNEL-SAME: kernel.copies = 0
// KERNEL-SAME: kernel.loop_copies = 0
func.func @nth(%x: tensor<3x100xi64>, %n: tensor<3xi64>) -> tensor<3xi64> {
  %keys = tensor.cast %x : tensor<3x100xi64> to tensor<?x?xi64>
  %numbers = tensor.cast %n : tensor<3xi64> to tensor<?xi64>
  %found = func.call @ssa_compiler.nth(%keys, %numbers) : (tensor<?x?xi64>, tensor<?xi64>) -> tensor<?xi64>
  %result = tensor.cast %found : tensor<?xi64> to tensor<3xi64>
  return %result : tensor<3xi64>
}
func.func private @ssa_compiler.nth(tensor<?x?xi64>, tensor<?xi64>) -> tensor<?xi64>

// -----

// expected-error @below {{no such function in the kernel library}}
func.func private @ssa_compiler.nothing(tensor<?x?xi64>) -> tensor<?x?xi64>

// -----

// expected-error @below {{the library has it with the type}}
func.func private @ssa_compiler.order(tensor<?xi64>) -> tensor<?xi64>

// -----

// One loop over the elements finds the places of the true ones; another one
// fills what is left.
// CHECK-LABEL: func.func @places
// CHECK-NOT: call
// CHECK: scf.for
// CHECK-NEXT: tensor.extract
// CHECK: arith.select
// CHECK: scf.for
func.func @places(%flags: tensor<100xi1>) -> tensor<100xi64> {
  %any = tensor.cast %flags : tensor<100xi1> to tensor<?xi1>
  %places = func.call @ssa_compiler.places(%any) : (tensor<?xi1>) -> tensor<?xi64>
  %result = tensor.cast %places : tensor<?xi64> to tensor<100xi64>
  return %result : tensor<100xi64>
}
func.func private @ssa_compiler.places(tensor<?xi1>) -> tensor<?xi64>

// -----

// A function that is named after an op stands for it.
// CHECK-LABEL: func.func @ops
// CHECK-SAME: (%[[X:.*]]: f64, %[[N:.*]]: i64)
// CHECK: %[[ROOT:.*]] = math.sqrt %[[X]] : f64
// CHECK: %[[SIZE:.*]] = math.absi %[[N]] : i64
// CHECK: return %[[ROOT]], %[[SIZE]]
// CHECK-NOT: func.func
func.func @ops(%x: f64, %n: i64) -> (f64, i64) {
  %root = func.call @ssa_compiler.op.math.sqrt(%x) : (f64) -> f64
  %size = func.call @ssa_compiler.op.math.absi(%n) : (i64) -> i64
  return %root, %size : f64, i64
}
func.func private @ssa_compiler.op.math.sqrt(f64) -> f64
func.func private @ssa_compiler.op.math.absi(i64) -> i64

// -----

// expected-error @below {{no such op: math.nothing}}
func.func private @ssa_compiler.op.math.nothing(f64) -> f64

// -----

// expected-error @below {{operand #0 must be floating-point-like}}
func.func private @ssa_compiler.op.math.sqrt(i64) -> i64
