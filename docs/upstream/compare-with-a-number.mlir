// x <= 0.1 is false of the float32 0.1
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4xf32=0.1 0.0 0.2 1"
//
// Expected: 4xi1=01 01 00 00
// Actual:   4xi1=00 01 00 00
//
// Project: torch-mlir. The tensor is extended to f64 and compared there. PyTorch rounds the number
// to the dtype of the tensor.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],i1> {
  %c = torch.constant.float 1.000000e-01
  %s = torch.aten.le.Scalar %x, %c : !torch.vtensor<[4],f32>, !torch.float -> !torch.vtensor<[4],i1>
  return %s : !torch.vtensor<[4],i1>
}
