// atan2 of two infinities, or two zeros, is NaN
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4xf32=inf -inf 0 1" --input="4xf32=inf inf 0 1"
//
// Expected: 4xf32=0.785398 -0.785398 0 0.785398
// Actual:   4xf32=-NAN -NAN NAN 0.785398
//
// Project: IREE. The expansion divides first.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[4],f32>, %y: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %s = torch.aten.atan2 %x, %y : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %s : !torch.vtensor<[4],f32>
}
