// scatter_add of bools adds in one bit: True + True is False
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="5xi1=01 00 01 01 00" --input="5xi64=0 1 2 3 4"
//
// Expected: 5xi1=01 00 01 01 00
// Actual:   5xi1=00 00 00 00 00
//
// Project: torch-mlir. The combiner is arith.addi of i1; it has to be ori. index_put that
// accumulates and scatter_reduce likewise.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[5],i1>, %i: !torch.vtensor<[5],si64>) -> !torch.vtensor<[5],i1> {
  %zero = torch.constant.int 0
  %s = torch.aten.scatter_add %x, %zero, %i, %x : !torch.vtensor<[5],i1>, !torch.int, !torch.vtensor<[5],si64>, !torch.vtensor<[5],i1> -> !torch.vtensor<[5],i1>
  return %s : !torch.vtensor<[5],i1>
}
