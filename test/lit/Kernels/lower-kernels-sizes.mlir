// RUN: not ssa-opt %s --form-kernels --lower-kernels 2>&1 | FileCheck %s

// The loop begins with five elements and yields another number of them: it is
// not given the size with which it begins.

// CHECK: error: unsupported: a tensor that may change its size in a loop
func.func @main(%x: tensor<5xf32>, %n: i64) -> tensor<?xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %seven = arith.constant 7.0 : f32
  %trips = arith.index_cast %n : i64 to index
  %start = tensor.cast %x : tensor<5xf32> to tensor<?xf32>
  %end = scf.for %i = %zero to %trips step %one iter_args(%carried = %start) -> (tensor<?xf32>) {
    %empty = tensor.empty(%i) : tensor<?xf32>
    %full = linalg.fill ins(%seven : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %full : tensor<?xf32>
  }
  return %end : tensor<?xf32>
}
