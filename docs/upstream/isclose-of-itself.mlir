// isclose(x, x) is true of NaN
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4xf32=nan 1 inf -inf"
//
// Expected: 4xi1=00 01 01 01
// Actual:   4xi1=01 01 01 01
//
// Project: torch-mlir. The comparison of the operand with itself is folded.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],i1> {
  %r = torch.constant.float 1.000000e-05
  %a = torch.constant.float 1.000000e-08
  %f = torch.constant.bool false
  %s = torch.aten.isclose %x, %x, %r, %a, %f : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.float, !torch.float, !torch.bool -> !torch.vtensor<[4],i1>
  return %s : !torch.vtensor<[4],i1>
}
