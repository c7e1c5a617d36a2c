// RUN: ssa-opt %s --pass-pipeline="builtin.module(func.func(fuse-into-loops))" | FileCheck %s

#row = affine_map<(d0) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0) -> (d0, 0)>

// The numbers of a running sum are converted one by one.
// CHECK-LABEL: func.func @running_sum(
// CHECK-SAME: %[[X:.+]]: tensor<8xf32>
// CHECK-NOT: linalg.generic
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK-NEXT: %[[N:.+]] = tensor.extract %[[X]][%[[I]]] : tensor<8xf32>
// CHECK-NEXT: %[[WIDE:.+]] = arith.extf %[[N]] : f32 to f64
// CHECK-NEXT: arith.addf %{{.+}}, %[[WIDE]] : f64
func.func @running_sum(%x: tensor<8xf32>, %out: tensor<8xf64>) -> tensor<8xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<8xf64>
  %wide = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf64>) {
  ^bb0(%p: f32, %o: f64):
    %r = arith.extf %p : f32 to f64
    linalg.yield %r : f64
  } -> tensor<8xf64>
  %r:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%t = %out, %s = %zero) -> (tensor<8xf64>, f64) {
    %n = tensor.extract %wide[%i] : tensor<8xf64>
    %sum = arith.addf %s, %n : f64
    %next = tensor.insert %sum into %t[%i] : tensor<8xf64>
    scf.yield %next, %sum : tensor<8xf64>, f64
  }
  return %r#0 : tensor<8xf64>
}

// So are the indices and the updates of a scatter, of which one op makes both;
// the index of its loop becomes that of the loop around.
// CHECK-LABEL: func.func @scatter(
// CHECK-SAME: %[[X:.+]]: tensor<8xf32>, %[[AT:.+]]: tensor<8xi64>
// CHECK-NOT: linalg.generic
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK: %[[WHERE:.+]] = tensor.extract %[[AT]][%[[I]]]
// CHECK: arith.index_cast %[[WHERE]]
// CHECK: tensor.extract %[[X]][%[[I]]]
func.func @scatter(%x: tensor<8xf32>, %at: tensor<8xi64>, %out: tensor<20xf32>) -> tensor<20xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<8x1xi64>
  %f = tensor.empty() : tensor<8xf32>
  %both:2 = linalg.generic {indexing_maps = [#column, #row], iterator_types = ["parallel"]} outs(%e, %f : tensor<8x1xi64>, tensor<8xf32>) {
  ^bb0(%o: i64, %p: f32):
    %i = linalg.index 0 : index
    %place = tensor.extract %at[%i] : tensor<8xi64>
    %number = tensor.extract %x[%i] : tensor<8xf32>
    linalg.yield %place, %number : i64, f32
  } -> (tensor<8x1xi64>, tensor<8xf32>)
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%t = %out) -> (tensor<20xf32>) {
    %place = tensor.extract %both#0[%i, %c0] : tensor<8x1xi64>
    %k = arith.index_cast %place : i64 to index
    %number = tensor.extract %both#1[%i] : tensor<8xf32>
    %next = tensor.insert %number into %t[%k] : tensor<20xf32>
    scf.yield %next : tensor<20xf32>
  }
  return %r : tensor<20xf32>
}

// A loop around that does not count an index would compute the elements again.
// CHECK-LABEL: func.func @again(
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: scf.for
func.func @again(%x: tensor<8xf32>, %zero: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %r = math.exp %p : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %zero) -> (f32) {
    %s = scf.for %j = %c0 to %c8 step %c1 iter_args(%b = %a) -> (f32) {
      %n = tensor.extract %y[%j] : tensor<8xf32>
      %sum = arith.addf %b, %n : f32
      scf.yield %sum : f32
    }
    scf.yield %s : f32
  }
  return %r : f32
}

// The loop overwrites what the op reads: `y[at] += y[at]`, say. Read in the loop,
// the old contents of all of %y would have to be copied.
// CHECK-LABEL: func.func @overwritten(
// CHECK: linalg.generic
// CHECK: arith.negf
// CHECK: scf.for
func.func @overwritten(%y: tensor<8xf32>, %at: tensor<8xi64>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<8xf32>
  %n = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%at : tensor<8xi64>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: i64, %o: f32):
    %k = arith.index_cast %a : i64 to index
    %old = tensor.extract %y[%k] : tensor<8xf32>
    %r = arith.negf %old : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%t = %y) -> (tensor<8xf32>) {
    %a = tensor.extract %at[%i] : tensor<8xi64>
    %k = arith.index_cast %a : i64 to index
    %new = tensor.extract %n[%i] : tensor<8xf32>
    %next = tensor.insert %new into %t[%k] : tensor<8xf32>
    scf.yield %next : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// What is read twice is made once.
// CHECK-LABEL: func.func @twice(
// CHECK: linalg.generic
func.func @twice(%x: tensor<8x4xf32>, %zero: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<8x4xf32>
  %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %r = math.exp %p : f32
    linalg.yield %r : f32
  } -> tensor<8x4xf32>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %zero) -> (f32) {
    %m = tensor.extract %y[%i, %c0] : tensor<8x4xf32>
    %n = tensor.extract %y[%i, %c1] : tensor<8x4xf32>
    %p = arith.mulf %m, %n : f32
    %sum = arith.addf %a, %p : f32
    scf.yield %sum : f32
  }
  return %r : f32
}
