// x[:, 1:] = x[:, :-1] reads what it has overwritten
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4x4xf32=[0 1 2 3][4 5 6 7][8 9 10 11][12 13 14 15]"
//
// Expected: 4x4xf32=[0 0 1 2][4 4 5 6][8 8 9 10][12 12 13 14]
// Actual:   4x4xf32=[0 0 0 0][4 4 4 4][8 8 8 8][12 12 12 12]
//
// Project: IREE. One dispatch reads and writes one buffer at overlapping places, although the
// operand of the insertion is a value of its own.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[4,4],f32>) -> !torch.vtensor<[4,4],f32> {
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %three = torch.constant.int 3
  %four = torch.constant.int 4
  %p = torch.aten.slice.Tensor %x, %one, %zero, %three, %one : !torch.vtensor<[4,4],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[4,3],f32>
  %q = torch.aten.add.Scalar %p, %zero, %one : !torch.vtensor<[4,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,3],f32>
  %s = torch.aten.slice_scatter %x, %p, %one, %one, %four, %one : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,3],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[4,4],f32>
  return %s : !torch.vtensor<[4,4],f32>
}
