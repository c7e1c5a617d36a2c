// arith.remf of scalars is the remainder of the nearest quotient
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host --iree-input-demote-f64-to-f32=false -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="3.7" --input="2.0"
//
// Expected: f64=1.7
// Actual:   f64=-0.3
//
// Project: IREE. The virtual machine calls remainder() in place of fmod().
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: f64, %y: f64) -> f64 {
  %r = arith.remf %x, %y : f64
  return %r : f64
}
