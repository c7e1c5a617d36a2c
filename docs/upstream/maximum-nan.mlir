// maximum of NaN and a number is the number
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="5xf32=nan 1 nan 4 5" --input="5xf32=2 nan nan 1 1"
//
// Expected: 5xf32=NAN NAN NAN 4 5
// Actual:   5xf32=2 NAN NAN 4 5
//
// Project: torch-mlir. The lowering is cmpf ogt and select, not arith.maximumf. minimum, max.other,
// min.other and clamp.Tensor likewise.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[5],f32>, %y: !torch.vtensor<[5],f32>) -> !torch.vtensor<[5],f32> {
  %s = torch.aten.maximum %x, %y : !torch.vtensor<[5],f32>, !torch.vtensor<[5],f32> -> !torch.vtensor<[5],f32>
  return %s : !torch.vtensor<[5],f32>
}
