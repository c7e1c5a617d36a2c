// renorm along dimension -1 takes the norm of the whole tensor
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="2x2xf32=[3 0][4 0.5]"
//
// Expected: 2x2xf32=[0.6 0][0.8 0.5]
// Actual:   2x2xf32=[0.597022 0][0.79603 0.0995037]
//
// Project: torch-mlir. Dimension -1 is not counted from the end.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[2,2],f32>) -> !torch.vtensor<[2,2],f32> {
  %p = torch.constant.int 2
  %d = torch.constant.int -1
  %m = torch.constant.int 1
  %s = torch.aten.renorm %x, %p, %d, %m : !torch.vtensor<[2,2],f32>, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2,2],f32>
  return %s : !torch.vtensor<[2,2],f32>
}
