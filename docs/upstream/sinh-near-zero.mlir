// sinh is 0 near 0, and infinite from 88.73 on
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4xf32=1e-10 89 -0 1"
//
// Expected: 4xf32=1E-10 2.24481E+38 -0 1.1752
// Actual:   4xf32=0 INF 0 1.1752
//
// Project: IREE. It is (exp(x) - exp(-x)) / 2. The sign of -0 is lost, too.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %s = torch.aten.sinh %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %s : !torch.vtensor<[4],f32>
}
