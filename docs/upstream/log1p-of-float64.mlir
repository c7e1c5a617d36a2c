// log1p of float64 loses all digits near 0
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host --iree-input-demote-f64-to-f32=false -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="2xf64=1e-17 1e-10"
//
// Expected: 2xf64=1E-17 1E-10
// Actual:   2xf64=0 1E-10
//
// Project: IREE. Apparently it is computed as log(1 + x). expm1 likewise. IREE prints few digits of 1e-10; the
// first number shows it.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[2],f64>) -> !torch.vtensor<[2],f64> {
  %s = torch.aten.log1p %x : !torch.vtensor<[2],f64> -> !torch.vtensor<[2],f64>
  return %s : !torch.vtensor<[2],f64>
}
