// sum(dtype=torch.bool) adds in one bit
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4xi1=01 01 00 00"
//
// Expected: i1=01
// Actual:   i1=00
//
// Project: torch-mlir. Two Trues add up to False.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[4],i1>) -> !torch.vtensor<[],i1> {
  %e = torch.constant.int 11
  %s = torch.aten.sum %x, %e : !torch.vtensor<[4],i1>, !torch.int -> !torch.vtensor<[],i1>
  return %s : !torch.vtensor<[],i1>
}
