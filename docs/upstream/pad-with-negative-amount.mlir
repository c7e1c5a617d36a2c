// constant_pad_nd(x, [-1, 1]) is folded to x
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="5xf32=1 2 3 4 5"
//
// Expected: 5xf32=2 3 4 5 9
// Actual:   5xf32=1 2 3 4 5
//
// Project: torch-mlir. The folder looks only at whether the shape changes.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[5],f32>) -> !torch.vtensor<[5],f32> {
  %m = torch.constant.int -1
  %one = torch.constant.int 1
  %c = torch.constant.float 9.0
  %a = torch.prim.ListConstruct %m, %one : (!torch.int, !torch.int) -> !torch.list<int>
  %s = torch.aten.constant_pad_nd %x, %a, %c : !torch.vtensor<[5],f32>, !torch.list<int>, !torch.float -> !torch.vtensor<[5],f32>
  return %s : !torch.vtensor<[5],f32>
}
