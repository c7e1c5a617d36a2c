// A tensor that scf.for carries in a growing size has its first size after the loop
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4x3xf32=[0 1 2][3 4 5][6 7 8][9 10 11]" --input="2"
//
// Expected: 3x3xf32=[0 1 2][0 1 2][3 4 5]
// Actual:   1x3xf32=[0 1 2]
//
// Project: IREE. The size before the loop is taken for the size of the result.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[4,3],f32>, %n: i64) -> !torch.vtensor<[?,3],f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one64 = arith.constant 1 : i64
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %trips = arith.index_cast %n : i64 to index
  %first = torch.aten.slice.Tensor %x, %zero, %zero, %one, %one : !torch.vtensor<[4,3],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[1,3],f32>
  %cast = torch.tensor_static_info_cast %first : !torch.vtensor<[1,3],f32> to !torch.vtensor<[?,3],f32>
  %start = torch_c.to_builtin_tensor %cast : !torch.vtensor<[?,3],f32> -> tensor<?x3xf32>
  %r = scf.for %i = %c0 to %trips step %c1 iter_args(%v = %start) -> (tensor<?x3xf32>) {
    %t = torch_c.from_builtin_tensor %v : tensor<?x3xf32> -> !torch.vtensor<[?,3],f32>
    %i64 = arith.index_cast %i : index to i64
    %begin = torch_c.from_i64 %i64
    %j64 = arith.addi %i64, %one64 : i64
    %end = torch_c.from_i64 %j64
    %row = torch.aten.slice.Tensor %x, %zero, %begin, %end, %one : !torch.vtensor<[4,3],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[?,3],f32>
    %l = torch.prim.ListConstruct %t, %row : (!torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32>) -> !torch.list<vtensor>
    %w = torch.aten.cat %l, %zero : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[?,3],f32>
    %b = torch_c.to_builtin_tensor %w : !torch.vtensor<[?,3],f32> -> tensor<?x3xf32>
    scf.yield %b : tensor<?x3xf32>
  }
  %result = torch_c.from_builtin_tensor %r : tensor<?x3xf32> -> !torch.vtensor<[?,3],f32>
  return %result : !torch.vtensor<[?,3],f32>
}
