// neg of int64 goes through float32
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4xi64=1 16777217 1099511627777 -1152921504606846977"
//
// Expected: 4xi64=-1 -16777217 -1099511627777 1152921504606846977
// Actual:   4xi64=-1 -16777216 -1099511627776 1152921504606846976
//
// Project: torch-mlir. The body is sitofp to f32, negf, fptosi: wrong beyond 2**24.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[4],si64>) -> !torch.vtensor<[4],si64> {
  %s = torch.aten.neg %x : !torch.vtensor<[4],si64> -> !torch.vtensor<[4],si64>
  return %s : !torch.vtensor<[4],si64>
}
