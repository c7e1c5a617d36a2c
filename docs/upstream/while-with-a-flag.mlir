// scf.while that carries a value for its condition only does not compile
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4xf32=1 2 3 4" --input="1"
//
// Expected: 4xf32=-1 -2 -3 -4
// Actual:   failed to legalize unresolved target materialization from ('i1') to ('!stream.resource<*>', 'index') that remained live after conversion (no matching callback)
//
// Project: IREE. The arguments of the second region are converted as if they were those of the
// first.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%a: tensor<4xf32>, %n: i64) -> tensor<4xf32> {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %three = arith.constant 3 : i64
  %true = arith.constant true
  %r:2 = scf.while (%i = %zero, %go = %true, %x = %a) : (i64, i1, tensor<4xf32>) -> (i64, tensor<4xf32>) {
    %less = arith.cmpi slt, %i, %n : i64
    %both = arith.andi %less, %go : i1
    scf.condition(%both) %i, %x : i64, tensor<4xf32>
  } do {
  ^bb0(%i: i64, %x: tensor<4xf32>):
    %u = arith.negf %x : tensor<4xf32>
    %j = arith.addi %i, %one : i64
    %flag = arith.cmpi slt, %j, %three : i64
    scf.yield %j, %flag, %u : i64, i1, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}
