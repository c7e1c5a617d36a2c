// An assertion is dropped: var with a correction larger than the count divides by a negative number
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="1xf32=5"
//
// Expected: f32=NAN
// Actual:   f32=-0
//
// Project: IREE. torch-mlir emits cf.assert %false for this case, and PyTorch returns NaN.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[1],f32>) -> !torch.vtensor<[],f32> {
  %c = torch.constant.int 3
  %n = torch.constant.none
  %f = torch.constant.bool false
  %s = torch.aten.var.correction %x, %n, %c, %f : !torch.vtensor<[1],f32>, !torch.none, !torch.int, !torch.bool -> !torch.vtensor<[],f32>
  return %s : !torch.vtensor<[],f32>
}
