// leaky_relu adds two parts, of which an infinite slope spoils the other
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4xf32=1 2 -1 3"
//
// Expected: 4xf32=1 2 -INF 3
// Actual:   4xf32=-NAN -NAN -INF -NAN
//
// Project: torch-mlir. max(x, 0) + slope * min(x, 0) is inf * 0 = NaN for x > 0. elu, celu, prelu
// and logit likewise.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %c = torch.constant.float 0x7FF0000000000000
  %s = torch.aten.leaky_relu %x, %c : !torch.vtensor<[4],f32>, !torch.float -> !torch.vtensor<[4],f32>
  return %s : !torch.vtensor<[4],f32>
}
