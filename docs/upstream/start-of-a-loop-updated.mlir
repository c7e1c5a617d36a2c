// The tensor that a loop starts from is updated by the loop, though it is used afterwards
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4x8xf32=1" --input="2"
//
// Expected:
//   4x8xf32=[2 2 2 2 2 2 2 2][2 2 2 2 2 2 2 2][1 1 1 1 1 1 1 1][1 1 1 1 1 1 1 1]
//   4x8xf32=[1 1 1 1 1 1 1 1][1 1 1 1 1 1 1 1][1 1 1 1 1 1 1 1][1 1 1 1 1 1 1 1]
// Actual:
//   4x8xf32=[2 2 2 2 2 2 2 2][2 2 2 2 2 2 2 2][1 1 1 1 1 1 1 1][1 1 1 1 1 1 1 1]
//   4x8xf32=[0 0 0 0 0 0 0 0][0 0 0 0 0 0 0 0][0 0 0 0 0 0 0 0][0 0 0 0 0 0 0 0]
//
// Project: IREE. With a topology that has a self link, copy elision gives the value that starts the
// loop to the loop. Without the attribute the whole tensor is copied in each iteration.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

module attributes {stream.topology = #hal.device.topology<links = [(@__device_0 -> @__device_0 = {transparent_access = true, unified_memory = true})]>} {
func.func @main(%a: !torch.vtensor<[4,8],f32>, %n: i64) -> (!torch.vtensor<[4,8],f32>, !torch.vtensor<[4,8],f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %trips = arith.index_cast %n : i64 to index
  %square = torch.aten.mul.Tensor %a, %a : !torch.vtensor<[4,8],f32>, !torch.vtensor<[4,8],f32> -> !torch.vtensor<[4,8],f32>
  %start = torch_c.to_builtin_tensor %square : !torch.vtensor<[4,8],f32> -> tensor<4x8xf32>
  %first = torch.aten.select.int %a, %zero, %zero : !torch.vtensor<[4,8],f32>, !torch.int, !torch.int -> !torch.vtensor<[8],f32>
  %r = scf.for %i = %c0 to %trips step %c1 iter_args(%x = %start) -> (tensor<4x8xf32>) {
    %i64 = arith.index_cast %i : index to i64
    %index = torch_c.from_i64 %i64
    %t = torch_c.from_builtin_tensor %x : tensor<4x8xf32> -> !torch.vtensor<[4,8],f32>
    %row = torch.aten.select.int %t, %zero, %index : !torch.vtensor<[4,8],f32>, !torch.int, !torch.int -> !torch.vtensor<[8],f32>
    %more = torch.aten.add.Scalar %row, %one, %one : !torch.vtensor<[8],f32>, !torch.int, !torch.int -> !torch.vtensor<[8],f32>
    %u = torch.aten.select_scatter %t, %more, %zero, %index : !torch.vtensor<[4,8],f32>, !torch.vtensor<[8],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,8],f32>
    %b = torch_c.to_builtin_tensor %u : !torch.vtensor<[4,8],f32> -> tensor<4x8xf32>
    scf.yield %b : tensor<4x8xf32>
  }
  %result = torch_c.from_builtin_tensor %r : tensor<4x8xf32> -> !torch.vtensor<[4,8],f32>
  %other = torch.aten.select_scatter %square, %first, %zero, %zero : !torch.vtensor<[4,8],f32>, !torch.vtensor<[8],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,8],f32>
  return %result, %other : !torch.vtensor<[4,8],f32>, !torch.vtensor<[4,8],f32>
}
}
