// arith.select between tensors of different dynamic sizes has the size of the first
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="1x3xf32=[1 2 3]" --input="2x3xf32=[4 5 6][7 8 9]" --input="0"
//
// Expected: 2x3xf32=[4 5 6][7 8 9]
// Actual:   OUT_OF_RANGE; buffer view byte length 24 exceeds backing buffer byte length 12
//
// Project: IREE. It is turned into an elementwise op. The verifier does not demand that dynamic
// sizes are equal.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: tensor<?x3xf32>, %y: tensor<?x3xf32>, %c: i1) -> tensor<?x3xf32> {
  %r = arith.select %c, %x, %y : tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}
