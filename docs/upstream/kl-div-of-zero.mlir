// kl_div is NaN where the target is 0
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4xf32=-1 -2 -3 -4" --input="4xf32=0 0.5 0.25 0.25"
//
// Expected: f32=1.71028
// Actual:   f32=-NAN
//
// Project: torch-mlir. 0 * log(0) is 0 in PyTorch (xlogy).
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[4],f32>, %y: !torch.vtensor<[4],f32>) -> !torch.vtensor<[],f32> {
  %two = torch.constant.int 2
  %f = torch.constant.bool false
  %s = torch.aten.kl_div %x, %y, %two, %f : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.int, !torch.bool -> !torch.vtensor<[],f32>
  return %s : !torch.vtensor<[],f32>
}
