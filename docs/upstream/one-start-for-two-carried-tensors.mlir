// Two loop-carried tensors that start from one value share a buffer
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4x8xf32=1" --input="3"
//
// Expected:
//   4x8xf32=[2 2 2 2 2 2 2 2][2 2 2 2 2 2 2 2][2 2 2 2 2 2 2 2][1 1 1 1 1 1 1 1]
//   4x8xf32=[2 2 2 2 2 2 2 2][1 1 1 1 1 1 1 1][1 1 1 1 1 1 1 1][1 1 1 1 1 1 1 1]
// Actual:
//   4x8xf32=[2 2 2 2 2 2 2 2][2 2 2 2 2 2 2 2][2 2 2 2 2 2 2 2][1 1 1 1 1 1 1 1]
//   4x8xf32=[2 2 2 2 2 2 2 2][2 2 2 2 2 2 2 2][2 2 2 2 2 2 2 2][1 1 1 1 1 1 1 1]
//
// Project: IREE. Both are updated in it.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

module attributes {stream.topology = #hal.device.topology<links = [(@__device_0 -> @__device_0 = {transparent_access = true, unified_memory = true})]>} {
func.func @main(%a: tensor<4x8xf32>, %n: i64) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %trips = arith.index_cast %n : i64 to index
  %square = arith.mulf %a, %a : tensor<4x8xf32>
  %r:2 = scf.for %i = %c0 to %trips step %c1 iter_args(%x = %square, %y = %square) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    %twice = arith.addf %row, %row : tensor<8xf32>
    %x1 = tensor.insert_slice %twice into %x[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
    %y1 = tensor.insert_slice %twice into %y[0, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
    scf.yield %x1, %y1 : tensor<4x8xf32>, tensor<4x8xf32>
  }
  return %r#0, %r#1 : tensor<4x8xf32>, tensor<4x8xf32>
}
}
