// trunc of -0.0 is 0.0
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4xf32=-0.5 -0.0 1.5 -1.5"
//
// Expected: 4xf32=-0 -0 1 -1
// Actual:   4xf32=-0 0 1 -1
//
// Project: torch-mlir. The lowering multiplies floor(abs(x)) with a sign that is 0 for zeros.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %s = torch.aten.trunc %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %s : !torch.vtensor<[4],f32>
}
