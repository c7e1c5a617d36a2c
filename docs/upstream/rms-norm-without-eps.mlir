// rms_norm without eps divides 0 by 0
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4xf32=0"
//
// Expected: 4xf32=0 0 0 0
// Actual:   4xf32=-NAN -NAN -NAN -NAN
//
// Project: torch-mlir. PyTorch takes the epsilon of the dtype, the lowering takes 0.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %four = torch.constant.int 4
  %l = torch.prim.ListConstruct %four : (!torch.int) -> !torch.list<int>
  %n = torch.constant.none
  %s = torch.aten.rms_norm %x, %l, %n, %n : !torch.vtensor<[4],f32>, !torch.list<int>, !torch.none, !torch.none -> !torch.vtensor<[4],f32>
  return %s : !torch.vtensor<[4],f32>
}
