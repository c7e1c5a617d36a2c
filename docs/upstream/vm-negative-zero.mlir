// The scalar constant -0.0 is 0.0
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host --iree-input-demote-f64-to-f32=false -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main
//
// Expected: f64=-0
// Actual:   f64=0
//
// Project: IREE. Apparently vm.const.f64.zero is made of it.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main() -> f64 {
  %zero = arith.constant -0.0 : f64
  return %zero : f64
}
