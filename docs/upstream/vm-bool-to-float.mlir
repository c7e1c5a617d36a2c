// A bool that is converted to a double does not compile
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host --iree-input-demote-f64-to-f32=false -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="1"
//
// Expected: f64=1
// Actual:   'vm.cast.ui32.f32' op result #0 must be 32-bit float, but got 'f64'
//
// Project: IREE. i1 to i64 to f64 is folded to a cast that makes 32 bits only.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%flag: i1) -> f64 {
  %number = arith.extui %flag : i1 to i64
  %result = arith.sitofp %number : i64 to f64
  return %result : f64
}
