// x[i] = x[i].cumsum(0) in a loop reads what it has overwritten
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4x8xf32=1" --input="2"
//
// Expected: 4x8xf32=[1 2 3 4 5 6 7 8][1 2 3 4 5 6 7 8][1 1 1 1 1 1 1 1][1 1 1 1 1 1 1 1]
// Actual:   4x8xf32=[0 0 0 0 0 0 0 0][0 0 0 0 0 0 0 0][1 1 1 1 1 1 1 1][1 1 1 1 1 1 1 1]
//
// Project: IREE. The result is computed in the row itself, which the scan still has to read.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

module attributes {stream.topology = #hal.device.topology<links = [(@__device_0 -> @__device_0 = {transparent_access = true, unified_memory = true})]>} {

func.func @main(%a: !torch.vtensor<[4,8],f32>, %n: i64) -> !torch.vtensor<[4,8],f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %trips = arith.index_cast %n : i64 to index
  %none = torch.constant.none
  %square = torch.aten.mul.Tensor %a, %a : !torch.vtensor<[4,8],f32>, !torch.vtensor<[4,8],f32> -> !torch.vtensor<[4,8],f32>
  %start = torch_c.to_builtin_tensor %square : !torch.vtensor<[4,8],f32> -> tensor<4x8xf32>
  %r = scf.for %i = %c0 to %trips step %c1 iter_args(%x = %start) -> (tensor<4x8xf32>) {
    %i64 = arith.index_cast %i : index to i64
    %it = torch_c.from_i64 %i64
    %t = torch_c.from_builtin_tensor %x : tensor<4x8xf32> -> !torch.vtensor<[4,8],f32>
    %row = torch.aten.select.int %t, %zero, %it : !torch.vtensor<[4,8],f32>, !torch.int, !torch.int -> !torch.vtensor<[8],f32>
    %new = torch.aten.cumsum %row, %zero, %none : !torch.vtensor<[8],f32>, !torch.int, !torch.none -> !torch.vtensor<[8],f32>
    %u = torch.aten.select_scatter %t, %new, %zero, %it : !torch.vtensor<[4,8],f32>, !torch.vtensor<[8],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,8],f32>
    %b = torch_c.to_builtin_tensor %u : !torch.vtensor<[4,8],f32> -> tensor<4x8xf32>
    scf.yield %b : tensor<4x8xf32>
  }
  %result = torch_c.from_builtin_tensor %r : tensor<4x8xf32> -> !torch.vtensor<[4,8],f32>
  return %result : !torch.vtensor<[4,8],f32>
}
}
