// cumsum of float32 stays infinite
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4xf32=3e38 3e38 -3e38 -3e38"
//
// Expected: 4xf32=3E+38 INF 3E+38 0
// Actual:   4xf32=3E+38 INF INF INF
//
// Project: torch-mlir. PyTorch accumulates in double precision and rounds each result.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %z = torch.constant.int 0
  %n = torch.constant.none
  %s = torch.aten.cumsum %x, %z, %n : !torch.vtensor<[4],f32>, !torch.int, !torch.none -> !torch.vtensor<[4],f32>
  return %s : !torch.vtensor<[4],f32>
}
