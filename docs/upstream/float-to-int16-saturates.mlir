// Four floats converted to int16 saturate
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4xf32=40000 70000 -40000 1"
//
// Expected: 4xi16=-25536 4464 25536 1
// Actual:   4xi16=32767 32767 -32768 1
//
// Project: IREE. fptosi is undefined out of range, but the result depends on how many numbers there
// are: one alone wraps around, as PyTorch's conversion by way of int32 does, four are packed with
// saturation.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],si16> {
  %c = torch.constant.int 2
  %n = torch.constant.none
  %f = torch.constant.bool false
  %s = torch.aten.to.dtype %x, %c, %f, %f, %n : !torch.vtensor<[4],f32>, !torch.int, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[4],si16>
  return %s : !torch.vtensor<[4],si16>
}
