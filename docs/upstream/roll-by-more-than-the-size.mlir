// roll by more than the size moves nothing
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="5xf32=1 2 3 4 5"
//
// Expected: 5xf32=4 5 1 2 3
// Actual:   5xf32=1 2 3 4 5
//
// Project: torch-mlir. The shift is not taken modulo the size: the slices are the whole tensor and
// an empty one.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[5],f32>) -> !torch.vtensor<[5],f32> {
  %zero = torch.constant.int 0
  %seven = torch.constant.int 7
  %a = torch.prim.ListConstruct %seven : (!torch.int) -> !torch.list<int>
  %d = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
  %s = torch.aten.roll %x, %a, %d : !torch.vtensor<[5],f32>, !torch.list<int>, !torch.list<int> -> !torch.vtensor<[5],f32>
  return %s : !torch.vtensor<[5],f32>
}
