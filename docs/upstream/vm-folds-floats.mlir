// The virtual machine's canonicalizer takes floats for real numbers
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host --iree-input-demote-f64-to-f32=false -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="nan" --input="1e20" --input="1"
//
// Expected:
//   f64=nan
//   f64=nan
//   f64=0
//   i32=0
//   i32=0
// Actual:
//   f64=0
//   f64=0
//   f64=1
//   i32=1
//   i32=1
//
// Project: IREE. x * 0.0, 0.0 / x and x == x are wrong of NaN, x >= y becomes not x < y, and (z -
// y) + y becomes z.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: f64, %y: f64, %z: f64) -> (f64, f64, f64, i1, i1) {
  %zero = arith.constant 0.0 : f64
  %a = arith.mulf %x, %zero : f64
  %b = arith.divf %zero, %x : f64
  %d = arith.subf %z, %y : f64
  %s = arith.addf %d, %y : f64
  %e = arith.cmpf oeq, %x, %x : f64
  %g = arith.cmpf oge, %x, %y : f64
  return %a, %b, %s, %e, %g : f64, f64, f64, i1, i1
}
