// exp(x) - y does not overflow where exp(x) does
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4xf32=88.8 88.73 89 1" --input="4xf32=1e38 3e38 3e38 0"
//
// Expected: 4xf32=INF INF INF 2.71828
// Actual:   4xf32=2.67579E+38 4.27289E+37 6.75792E+37 2.71828
//
// Project: IREE. The last product of the exponential is contracted with the subtraction to a fused
// multiply-add, so that what is infinite in between does not become so.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[4],f32>, %y: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %one = torch.constant.int 1
  %e = torch.aten.exp %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %s = torch.aten.sub.Tensor %e, %y, %one : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],f32>
  return %s : !torch.vtensor<[4],f32>
}
