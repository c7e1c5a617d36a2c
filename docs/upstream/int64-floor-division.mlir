// floor_divide of int64 goes through floating point
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host --iree-input-demote-f64-to-f32=false -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4xi64=-7 8589934593 -9007199254740997 1152921504606846977"
//
// Expected: 4xi64=-3 2863311531 -3002399751580333 384307168202282325
// Actual:   4xi64=-3 2863311531 -3002399751580332 384307168202282304
//
// Project: torch-mlir. Wrong beyond 2**53, and beyond 2**24 with IREE's default --iree-input-
// demote-f64-to-f32.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[4],si64>) -> !torch.vtensor<[4],si64> {
  %three = torch.constant.int 3
  %s = torch.aten.floor_divide.Scalar %x, %three : !torch.vtensor<[4],si64>, !torch.int -> !torch.vtensor<[4],si64>
  return %s : !torch.vtensor<[4],si64>
}
