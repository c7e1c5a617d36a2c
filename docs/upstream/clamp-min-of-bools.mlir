// clamp_min of two tensors of bools is false where the bound is true
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4xi1=00 00 01 01" --input="4xi1=00 01 00 01"
//
// Expected: 4xi1=00 01 01 01
// Actual:   4xi1=00 00 00 01
//
// Project: torch-mlir. The comparison of i1 is signed (maxsi): true is -1.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[4],i1>, %y: !torch.vtensor<[4],i1>) -> !torch.vtensor<[4],i1> {
  %s = torch.aten.clamp_min.Tensor %x, %y : !torch.vtensor<[4],i1>, !torch.vtensor<[4],i1> -> !torch.vtensor<[4],i1>
  return %s : !torch.vtensor<[4],i1>
}
