// math.powf of a negative base, and 0 ** 0, are NaN
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="5xf32=-2 -3 -1 2 0" --input="5xf32=2 3 5 -1 0"
//
// Expected: 5xf32=4 -27 -1 0.5 1
// Actual:   5xf32=NAN NAN NAN 0.5 -NAN
//
// Project: IREE. The expansion of math.powf is exp(y * log(x)) for all x. torch-mlir lowers the op
// to math.powf, whose semantics is that of C's pow.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[5],f32>, %y: !torch.vtensor<[5],f32>) -> !torch.vtensor<[5],f32> {
  %s = torch.aten.pow.Tensor_Tensor %x, %y : !torch.vtensor<[5],f32>, !torch.vtensor<[5],f32> -> !torch.vtensor<[5],f32>
  return %s : !torch.vtensor<[5],f32>
}
