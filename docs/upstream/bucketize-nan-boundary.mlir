// bucketize with a last boundary of NaN puts everything behind it
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4xf32=0 1.5 5 nan" --input="4xf32=1 2 3 nan"
//
// Expected: 4xi64=0 1 4 4
// Actual:   4xi64=4 4 4 4
//
// Project: torch-mlir. The lowering compares with the last boundary first, and takes the number of
// boundaries unless it is larger. PyTorch searches by bisection.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[4],f32>, %b: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],si64> {
  %f = torch.constant.bool false
  %s = torch.aten.bucketize.Tensor %x, %b, %f, %f : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.bool, !torch.bool -> !torch.vtensor<[4],si64>
  return %s : !torch.vtensor<[4],si64>
}
