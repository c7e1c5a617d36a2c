// gelu(approximate='tanh') is off by 5e-5
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="5xf32=1 2 3 -1 -2"
//
// Expected: 5xf32=0.841192 1.9546 2.99636 -0.158808 -0.0454023
// Actual:   5xf32=0.841147 1.95456 2.99636 -0.158853 -0.0454359
//
// Project: torch-mlir. The factor is 0.797724 in place of sqrt(2 / pi) = 0.797885.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[5],f32>) -> !torch.vtensor<[5],f32> {
  %s0 = torch.constant.str "tanh"
  %s = torch.aten.gelu %x, %s0 : !torch.vtensor<[5],f32>, !torch.str -> !torch.vtensor<[5],f32>
  return %s : !torch.vtensor<[5],f32>
}
