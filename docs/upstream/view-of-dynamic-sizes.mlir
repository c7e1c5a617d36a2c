// A view to an inferred size keeps the size of the operand in the same place
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="3x4xf32=[1 2 3 4][5 6 7 8][9 10 11 12]"
//
// Expected: 6x2xf32=[2 4][6 8][10 12][14 16][18 20][22 24]
// Actual:   INVALID_ARGUMENT; tensor shape dimension 1 mismatch
//
// Project: torch-mlir. x.view(-1, 2) of a dynamic 3x4 tensor gets 3 rows.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[?,?],f32>) -> !torch.vtensor<[?,2],f32> {
  %m = torch.constant.int -1
  %two = torch.constant.int 2
  %one = torch.constant.int 1
  %y = torch.aten.mul.Scalar %x, %two : !torch.vtensor<[?,?],f32>, !torch.int -> !torch.vtensor<[?,?],f32>
  %l = torch.prim.ListConstruct %m, %two : (!torch.int, !torch.int) -> !torch.list<int>
  %s = torch.aten.view %y, %l : !torch.vtensor<[?,?],f32>, !torch.list<int> -> !torch.vtensor<[?,2],f32>
  return %s : !torch.vtensor<[?,2],f32>
}
