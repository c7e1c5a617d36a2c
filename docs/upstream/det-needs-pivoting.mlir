// An assertion in a linalg body is dropped: det of a matrix that needs a row exchange is NaN
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="2x2xf32=[0 1][1 0]"
//
// Expected: f32=-1
// Actual:   f32=-NAN
//
// Project: IREE. torch-mlir guards what it does not implement by cf.assert in the body of a
// linalg.generic; IREE drops the assertion. torch-mlir's lowering: divides by a pivot of 0.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[2,2],f32>) -> !torch.vtensor<[],f32> {
  %s = torch.aten.linalg_det %x : !torch.vtensor<[2,2],f32> -> !torch.vtensor<[],f32>
  return %s : !torch.vtensor<[],f32>
}
