// select_scatter at the constant index -1 stores nothing
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="5xf32=1 2 3 4 5" --input="f32=9"
//
// Expected: 5xf32=1 2 3 4 9
// Actual:   5xf32=1 2 3 4 5
//
// Project: torch-mlir. The negative index is not counted from the end.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[5],f32>, %y: !torch.vtensor<[],f32>) -> !torch.vtensor<[5],f32> {
  %zero = torch.constant.int 0
  %last = torch.constant.int -1
  %s = torch.aten.select_scatter %x, %y, %zero, %last : !torch.vtensor<[5],f32>, !torch.vtensor<[],f32>, !torch.int, !torch.int -> !torch.vtensor<[5],f32>
  return %s : !torch.vtensor<[5],f32>
}
