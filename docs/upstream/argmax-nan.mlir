// argmax returns the place of a number where there is a NaN
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="5xf32=1 nan 3 nan 2"
//
// Expected: i64=1
// Actual:   i64=2
//
// Project: torch-mlir. The values are reduced by maximumf, which keeps NaN, the places by cmpf ogt,
// which never does. max.dim and argmin likewise.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[5],f32>) -> !torch.vtensor<[],si64> {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %s = torch.aten.argmax %x, %none, %false : !torch.vtensor<[5],f32>, !torch.none, !torch.bool -> !torch.vtensor<[],si64>
  return %s : !torch.vtensor<[],si64>
}
