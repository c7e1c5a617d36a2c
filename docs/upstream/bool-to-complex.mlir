// A bool converted to a complex number is -1
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="2xi1=01 00"
//
// Expected: 2xcf64=0000803F00000000 0000000000000000
// Actual:   2xcf64=000080BF00000000 0000000000000000
//
// Project: torch-mlir. The conversion is sitofp of an i1. uint8 likewise.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[2],i1>) -> !torch.vtensor<[2],complex<f32>> {
  %e = torch.constant.int 9
  %f = torch.constant.bool false
  %n = torch.constant.none
  %s = torch.aten.to.dtype %x, %e, %f, %f, %n : !torch.vtensor<[2],i1>, !torch.int, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[2],complex<f32>>
  return %s : !torch.vtensor<[2],complex<f32>>
}
