// fmod of floats is x - trunc(x / y) * y
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4xf32=1 5 1e20 -3" --input="4xf32=0.1 inf 3 inf"
//
// Expected: 4xf32=0.1 5 2 -3
// Actual:   4xf32=-1.49012E-08 -NAN 2.19902E+12 -NAN
//
// Project: torch-mlir. The quotient is rounded: wrong where it is large or a whole number only by
// rounding, NaN for an infinite divisor.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[4],f32>, %y: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %s = torch.aten.fmod.Tensor %x, %y : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %s : !torch.vtensor<[4],f32>
}
