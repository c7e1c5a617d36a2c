// sin of float32 is off by 3e-4 at 1e4, and unrelated at 1e8
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="5xf32=1 300 10000 1000000 100000000"
//
// Expected: 5xf32=0.841471 -0.999756 -0.305614 -0.349994 0.931639
// Actual:   5xf32=0.841471 -0.999756 -0.305349 -0.375922 -0.744682
//
// Project: IREE. The polynomial approximation reduces its argument in single precision. cos and tan
// likewise.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[5],f32>) -> !torch.vtensor<[5],f32> {
  %s = torch.aten.sin %x : !torch.vtensor<[5],f32> -> !torch.vtensor<[5],f32>
  return %s : !torch.vtensor<[5],f32>
}
