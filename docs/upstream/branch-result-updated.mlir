// Updating the result of an scf.if changes the tensor that a branch yielded
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4x8xf32=1" --input="0"
//
// Expected:
//   4x8xf32=[2 2 2 2 2 2 2 2][1 1 1 1 1 1 1 1][1 1 1 1 1 1 1 1][1 1 1 1 1 1 1 1]
//   4x8xf32=[1 1 1 1 1 1 1 1][1 1 1 1 1 1 1 1][1 1 1 1 1 1 1 1][1 1 1 1 1 1 1 1]
// Actual:
//   4x8xf32=[2 2 2 2 2 2 2 2][1 1 1 1 1 1 1 1][1 1 1 1 1 1 1 1][1 1 1 1 1 1 1 1]
//   4x8xf32=[2 2 2 2 2 2 2 2][1 1 1 1 1 1 1 1][1 1 1 1 1 1 1 1][1 1 1 1 1 1 1 1]
//
// Project: IREE. The branch that yields %square gives its buffer away, though %square is returned.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

module attributes {stream.topology = #hal.device.topology<links = [(@__device_0 -> @__device_0 = {transparent_access = true, unified_memory = true})]>} {

func.func @main(%a: tensor<4x8xf32>, %c: i1) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %square = arith.mulf %a, %a : tensor<4x8xf32>
  %y = scf.if %c -> (tensor<4x8xf32>) {
    %m = arith.mulf %square, %a : tensor<4x8xf32>
    scf.yield %m : tensor<4x8xf32>
  } else {
    scf.yield %square : tensor<4x8xf32>
  }
  %row = tensor.extract_slice %y[0, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
  %twice = arith.addf %row, %row : tensor<8xf32>
  %u = tensor.insert_slice %twice into %y[0, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
  return %u, %square : tensor<4x8xf32>, tensor<4x8xf32>
}
}
