// clamp_max of NaN is the bound
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="5xf32=nan 1 -3 inf 0"
//
// Expected: 5xf32=NAN 1 -3 2 0
// Actual:   5xf32=2 1 -3 2 0
//
// Project: torch-mlir. The comparison is unordered (ugt), so that NaN counts as larger than the
// bound. PyTorch propagates NaN. clamp, clamp_min, hardtanh, relu6 and threshold are lowered
// likewise.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[5],f32>) -> !torch.vtensor<[5],f32> {
  %c = torch.constant.float 2.0
  %s = torch.aten.clamp_max %x, %c : !torch.vtensor<[5],f32>, !torch.float -> !torch.vtensor<[5],f32>
  return %s : !torch.vtensor<[5],f32>
}
