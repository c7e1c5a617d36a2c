// full(2, dtype=torch.bool) takes the last bit of the number
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main
//
// Expected: 4xi1=01 01 01 01
// Actual:   4xi1=00 00 00 00
//
// Project: torch-mlir. What is not 0 has to become True. masked_fill likewise.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main() -> !torch.vtensor<[4],i1> {
  %two = torch.constant.int 2
  %four = torch.constant.int 4
  %e = torch.constant.int 11
  %n = torch.constant.none
  %l = torch.prim.ListConstruct %four : (!torch.int) -> !torch.list<int>
  %s = torch.aten.full %l, %two, %e, %n, %n, %n : !torch.list<int>, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[4],i1>
  return %s : !torch.vtensor<[4],i1>
}
