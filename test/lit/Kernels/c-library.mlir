// RUN: ssa-opt %s -split-input-file --form-kernels=c-library=true | FileCheck %s --check-prefix=FORM
// RUN: ssa-opt %s -split-input-file --form-kernels | FileCheck %s --check-prefix=NONE
// RUN: ssa-opt %s -split-input-file --form-kernels=c-library=true --lower-kernels | FileCheck %s --check-prefix=CALL

// An executable is linked against nothing. A kernel calls functions of the C
// library at addresses that its caller writes into the last words of the status
// buffer: here behind two flags and the result. Python's own functions are those
// of the C library, also where executables have code for one (math.exp). What
// stays as it is elsewhere, such as a square root, is computed in the kernel.

// FORM-LABEL: func.func @main
// FORM-SAME: kernel.c_functions = ["exp", "pow", "fmod"]
// FORM-SAME: kernel.form = "kernel"
// FORM: math.exp {{.+}} {kernel.c_function = "exp"}
// FORM: math.powf {{.+}} {kernel.c_function = "pow"}
// FORM: math.sqrt %{{[0-9a-z]+}} : f64
// FORM: arith.remf {{.+}} {kernel.c_function = "fmod"}

// NONE: kernel.reason = "math.exp"

// CALL-LABEL: func.func @main
// CALL-SAME: %[[X:.+]]: f64 {kernel.role = "input"}
// CALL-SAME: %[[STATUS:.+]]: memref<6xi64> {kernel.role = "status"}
// CALL: llvm.inline_asm has_side_effects "stmxcsr
// CALL: %[[EXP:.+]] = memref.load %[[STATUS]][%c3]
// CALL: %[[POW:.+]] = memref.load %[[STATUS]][%c4]
// CALL: llvm.inline_asm {{.+}}callq *%r12{{.+}}, "={xmm0},0,{r12},~{r13},~{rax}
// CALL-SAME: ~{xmm1},
// CALL-SAME: %[[EXP]] : (f64, i64) -> f64
// CALL: llvm.inline_asm {{.+}}callq *%r12{{.+}}, "={xmm0},={xmm1},0,1,{r12},~{r13},
// CALL-SAME: %[[POW]] : (f64, f64, i64) -> !llvm.struct<(f64, f64)>
// CALL: llvm.extractvalue %{{.+}}[0]
// CALL-NOT: math.powf
func.func @main(%x: f64) -> f64 {
  %c = arith.constant 0.3 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %y = scf.for %i = %c0 to %c9 step %c1 iter_args(%v = %x) -> f64 {
    %e = math.exp %v : f64
    %p = math.powf %e, %c : f64
    %s = math.sqrt %p : f64
    %r = arith.remf %s, %c : f64
    scf.yield %r : f64
  }
  return %y : f64
}

// -----

// Of tensors, those functions are called that executables have no code for, or
// none that is as exact as PyTorch's. Elements are passed one by one.
// FORM-LABEL: func.func @main
// FORM-SAME: kernel.c_functions = ["powf"]
// FORM: math.exp %{{[0-9a-z_]+}} : f32
// FORM: math.powf {{.+}} {kernel.c_function = "powf"}
// NONE: kernel.reason = "math.powf"
// CALL-LABEL: func.func @main
// CALL: callq
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c = arith.constant 2.5 : f32
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %e = math.exp %in : f32
    %p = math.powf %e, %c : f32
    linalg.yield %p : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// More calls take longer than vectors do elsewhere.
// FORM: kernel.reason = "8192 calls of the C library in one op"
// NONE: kernel.reason
func.func @main(%x: tensor<8192xf64>) -> tensor<8192xf64> {
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8192xf64>) outs(%x : tensor<8192xf64>) {
  ^bb0(%in: f64, %out: f64):
    %s = math.sin %in : f64
    linalg.yield %s : f64
  } -> tensor<8192xf64>
  return %0 : tensor<8192xf64>
}
