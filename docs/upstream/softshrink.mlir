// softshrink moves negative numbers away from zero, and makes 0 of NaN
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="5xf32=-2 -1 0 1 nan"
//
// Expected: 5xf32=-1.5 -0.5 0 0.5 NAN
// Actual:   5xf32=-2.5 -1.5 0 0.5 0
//
// Project: torch-mlir. Below -lambda it subtracts lambda where it has to add it. hardshrink makes 0
// of NaN, too.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[5],f32>) -> !torch.vtensor<[5],f32> {
  %c = torch.constant.float 5.000000e-01
  %s = torch.aten.softshrink %x, %c : !torch.vtensor<[5],f32>, !torch.float -> !torch.vtensor<[5],f32>
  return %s : !torch.vtensor<[5],f32>
}
