// asinh of a large negative number is -inf
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4xf32=-10000 -1e10 1 1e10"
//
// Expected: 4xf32=-9.90349 -23.719 0.881374 23.719
// Actual:   4xf32=-INF -INF 0.881374 23.719
//
// Project: IREE. The expansion is log(x + sqrt(x * x + 1)), which cancels for negative numbers.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %s = torch.aten.asinh %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %s : !torch.vtensor<[4],f32>
}
