// RUN: ssa-opt %s --form-kernels=workgroups=64 --split-input-file | FileCheck %s
// RUN: ssa-opt %s --form-kernels=workgroups=1 --split-input-file | FileCheck %s --check-prefix=ALONE

#row = affine_map<(d0) -> (d0)>

// A hundred executions of a small op: barriers of many workgroups would take
// longer.
// CHECK-LABEL: func.func @small(
// CHECK-NOT: kernel.workgroups
// CHECK-SAME: kernel.form = "kernel"
func.func @small(%x: tensor<64xf32>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %r = scf.for %i = %c0 to %c100 step %c1 iter_args(%y = %x) -> (tensor<64xf32>) {
    %z = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%y : tensor<64xf32>) outs(%y : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32):
      %e = arith.addf %a, %a : f32
      linalg.yield %e : f32
    } -> tensor<64xf32>
    scf.yield %z : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// -----

#row = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @large(
// CHECK-SAME: kernel.form = "kernel"
// CHECK-SAME: kernel.workgroups = 64
// ALONE-LABEL: func.func @large(
// ALONE-SAME: kernel.form = "kernel"
// ALONE-NOT: kernel.workgroups
func.func @large(%x: tensor<200000xf32>) -> tensor<200000xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %r = scf.for %i = %c0 to %c100 step %c1 iter_args(%y = %x) -> (tensor<200000xf32>) {
    %z = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%y : tensor<200000xf32>) outs(%y : tensor<200000xf32>) {
    ^bb0(%a: f32, %b: f32):
      %e = arith.addf %a, %a : f32
      linalg.yield %e : f32
    } -> tensor<200000xf32>
    scf.yield %z : tensor<200000xf32>
  }
  return %r : tensor<200000xf32>
}

// -----

#row = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @very_large(
// CHECK-SAME: kernel.workgroups = 64
// ALONE-LABEL: func.func @very_large(
// ALONE-SAME: kernel.reason = "300000 steps in one op, for all of a GPU"
func.func @very_large(%x: tensor<300000xf32>) -> tensor<300000xf32> {
  %z = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%x : tensor<300000xf32>) outs(%x : tensor<300000xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = arith.addf %a, %a : f32
    linalg.yield %e : f32
  } -> tensor<300000xf32>
  return %z : tensor<300000xf32>
}

// -----

// One thread would run the loop.
// CHECK-LABEL: func.func @in_order(
// CHECK-SAME: kernel.reason = "1001000 steps that one thread would take"
func.func @in_order(%x: tensor<1000xi64>) -> tensor<1000xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1000 = arith.constant 1000 : index
  %r = scf.for %i = %c0 to %c1000 step %c1 iter_args(%y = %x) -> (tensor<1000xi64>) {
    %s = scf.for %j = %c0 to %c1000 step %c1 iter_args(%z = %y) -> (tensor<1000xi64>) {
      %a = tensor.extract %z[%j] : tensor<1000xi64>
      %b = arith.addi %a, %a : i64
      %t = tensor.insert %b into %z[%i] : tensor<1000xi64>
      scf.yield %t : tensor<1000xi64>
    }
    scf.yield %s : tensor<1000xi64>
  }
  return %r : tensor<1000xi64>
}

// -----

// CHECK-LABEL: func.func @numbers_of_a_message(
// CHECK-SAME: kernel.reason = "an exception that says numbers of the run"
func.func private @kernel.note(i64, i64)
func.func @numbers_of_a_message(%n: i64) -> i64 {
  %c0 = arith.constant 0 : i64
  %false = arith.constant false
  %bad = arith.cmpi slt, %n, %c0 : i64
  scf.if %bad {
    func.call @kernel.note(%c0, %n) : (i64, i64) -> ()
    cf.assert %false, "n"
  }
  return %n : i64
}
