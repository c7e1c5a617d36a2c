// x == x is folded to true, also for NaN
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="5xf32=nan 1 -3 inf 0"
//
// Expected: 5xi1=00 01 01 01 01
// Actual:   5xi1=01 01 01 01 01
//
// Project: torch-mlir. The canonicalizer replaces the op by a constant without looking at the
// dtype. (Booleans are printed as bytes.)
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[5],f32>) -> !torch.vtensor<[5],i1> {
  %s = torch.aten.eq.Tensor %x, %x : !torch.vtensor<[5],f32>, !torch.vtensor<[5],f32> -> !torch.vtensor<[5],i1>
  return %s : !torch.vtensor<[5],i1>
}
