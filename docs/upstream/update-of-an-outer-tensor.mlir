// An update of a tensor from outside a loop is seen by the next iteration
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4x8xf32=2" --input="2"
//
// Expected: 4x8xf32=[8 8 8 8 8 8 8 8][8 8 8 8 8 8 8 8][10 10 10 10 10 10 10 10][10 10 10 10 10 10 10 10]
// Actual:   4x8xf32=[6 6 6 6 6 6 6 6][8 8 8 8 8 8 8 8][10 10 10 10 10 10 10 10][10 10 10 10 10 10 10 10]
//
// Project: IREE. %u of each iteration is a value of its own; it is made in the buffer of %square
// without a copy.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

module attributes {stream.topology = #hal.device.topology<links = [(@__device_0 -> @__device_0 = {transparent_access = true, unified_memory = true})]>} {

func.func @main(%a: tensor<4x8xf32>, %n: i64) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %trips = arith.index_cast %n : i64 to index
  %square = arith.mulf %a, %a : tensor<4x8xf32>
  %r = scf.for %i = %c0 to %trips step %c1 iter_args(%x = %a) -> (tensor<4x8xf32>) {
    %part = tensor.extract_slice %a[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    %u = tensor.insert_slice %part into %square[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
    %s = arith.addf %x, %u : tensor<4x8xf32>
    scf.yield %s : tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}
}
