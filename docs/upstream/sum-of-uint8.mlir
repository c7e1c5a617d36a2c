// sum of uint8 extends with a sign
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4xi8=200 200 1 2"
//
// Expected: i64=403
// Actual:   i64=-109
//
// Project: torch-mlir. The conversion to int64 is extsi, which makes -56 of 200. Quotients and
// comparisons with other dtypes likewise.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[4],ui8>) -> !torch.vtensor<[],si64> {
  %none = torch.constant.none
  %s = torch.aten.sum %x, %none : !torch.vtensor<[4],ui8>, !torch.none -> !torch.vtensor<[],si64>
  return %s : !torch.vtensor<[],si64>
}
