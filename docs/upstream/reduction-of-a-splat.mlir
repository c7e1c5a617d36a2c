// The sum of a tensor filled with one number counts it once for each vector
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="9xf32=0"
//
// Expected: f32=63
// Actual:   f32=7
//
// Project: IREE. The fill is folded into the reduction, whose body then reads none of its inputs;
// the vectorizer adds the number once for each vector instead of once for each element.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[9],f32>) -> !torch.vtensor<[],f32> {
  %seven = torch.constant.float 7.0
  %none = torch.constant.none
  %y = torch.aten.fill.Scalar %x, %seven : !torch.vtensor<[9],f32>, !torch.float -> !torch.vtensor<[9],f32>
  %s = torch.aten.sum %y, %none : !torch.vtensor<[9],f32>, !torch.none -> !torch.vtensor<[],f32>
  return %s : !torch.vtensor<[],f32>
}
