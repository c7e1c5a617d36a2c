// RUN: ssa-opt %s -split-input-file --form-kernels="max-products=64 max-tiled-products=100 max-window-products=64 min-launches=0 max-ops=40" | FileCheck %s
// RUN: ssa-opt %s -split-input-file --form-kernels | FileCheck %s --check-prefix=FEW

// Nothing is gained by a kernel for what the backend launches once or twice, if the
// host has to wait for a number.
// FEW: kernel.reason = "few launches that it would save"

// What bufferization may write into is decided here: never the caller's tensors.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: tensor<4xf32> {bufferization.writable = false, kernel.role = "input"}
// CHECK-SAME: i64 {kernel.role = "input"}
// CHECK-SAME: attributes {kernel.form = "kernel"}
func.func @main(%x: tensor<4xf32>, %n: i64) -> (tensor<4xf32>, i64) {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y, %n : tensor<4xf32>, i64
}

// -----

// The kernel writes into an argument that gets new contents, and a result that is
// that argument has them, too.
// CHECK-LABEL: func.func @written(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32> {kernel.role = "written"}
// CHECK: %[[NEW:.+]] = linalg.exp
// CHECK: return %[[NEW]], %[[NEW]]
func.func @written(%x: tensor<4xf32>) -> (tensor<4xf32> {tssa.alias_of = 0 : i64}, tensor<4xf32> {tssa.writeback = 0 : i64}) {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %x, %y : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @resized
// CHECK-SAME: kernel.reason = "new contents of an argument that have another type"
func.func @resized(%x: tensor<4xf32>, %y: tensor<?xf32>) -> (tensor<?xf32> {tssa.writeback = 0 : i64}) {
  return %y : tensor<?xf32>
}

// -----

// Python's arithmetic rounds after each step; the code generator would contract
// the product and the sum.
// CHECK-LABEL: func.func @main
// CHECK: %[[PRODUCT:.+]] = arith.mulf
// CHECK: %[[HIDDEN:.+]] = llvm.inline_asm "", "=x,0" %[[PRODUCT]]
// CHECK: arith.addf %[[HIDDEN]]
func.func @main(%a: f64, %b: f64, %c: f64) -> f64 {
  %p = arith.mulf %a, %b : f64
  %s = arith.addf %p, %c : f64
  return %s : f64
}

// -----

// torch-mlir's assertion that no element is 0, of which eager knows nothing.
// CHECK-LABEL: func.func @main
// CHECK: linalg.generic
// CHECK-NOT: cf.assert
// CHECK: return
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %c = arith.cmpf one, %in, %zero : f32
    cf.assert %c, "unimplemented: tensor with zero element"
    %r = arith.divf %one, %in : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Sizes may be dynamic. Added up in single precision, one after the other, are
// only as many floats as are known to be few enough for it.
// CHECK-LABEL: func.func @few(
// CHECK-SAME: kernel.form = "kernel"
// CHECK-NOT: f64
// CHECK: return
func.func @few(%x: tensor<4xf32>, %k: i64) -> tensor<f32> {
  %c0 = arith.constant 0 : i64
  %c4 = arith.constant 4 : i64
  %above = arith.maxsi %k, %c0 : i64
  %most = arith.minsi %above, %c4 : i64
  %n = arith.index_cast %most : i64 to index
  %s = tensor.extract_slice %x[0] [%n] [1] : tensor<4xf32> to tensor<?xf32>
  %e = tensor.empty() : tensor<f32>
  %f = linalg.reduce {arith.addf} ins(%s : tensor<?xf32>) outs(%e : tensor<f32>) dimensions = [0]
  return %f : tensor<f32>
}

// -----

// FEW-LABEL: func.func @perhaps_many(
// FEW-SAME: %[[X:[a-z0-9]+]]: tensor<?xf32> {{.*}} %[[INIT:[a-z0-9]+]]: tensor<f32>
// FEW-SAME: kernel.form = "kernel"
// FEW: %[[WIDE:.+]] = linalg.generic {{.*}} ins(%[[INIT]] : tensor<f32>) outs(%{{.+}} : tensor<f64>)
// FEW: %[[SUM:.+]] = linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%[[X]] : tensor<?xf32>) outs(%[[WIDE]] : tensor<f64>)
// FEW-NEXT: ^bb0(%[[IN:.+]]: f32, %[[OUT:.+]]: f64):
// FEW-NEXT: %[[ELEMENT:.+]] = arith.extf %[[IN]] : f32 to f64
// FEW-NEXT: arith.addf %{{.+}}, %{{.+}} : f64
// FEW: %[[NARROW:.+]] = linalg.generic {{.*}} ins(%[[SUM]] : tensor<f64>) outs(%{{.+}} : tensor<f32>)
// FEW: arith.truncf
// FEW: return %[[NARROW]]
func.func @perhaps_many(%x: tensor<?xf32>, %init: tensor<f32>) -> tensor<f32> {
  %f = linalg.reduce {arith.addf} ins(%x : tensor<?xf32>) outs(%init : tensor<f32>) dimensions = [0]
  return %f : tensor<f32>
}

// -----

// What has dynamic sizes itself is made of the sum in double precision, in its size.
// FEW-LABEL: func.func @rows(
// FEW: %[[SUMS:.+]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]}
// FEW: %[[SIZE:.+]] = tensor.dim %[[SUMS]], %{{.+}} : tensor<?xf64>
// FEW: tensor.empty(%[[SIZE]]) : tensor<?xf32>
func.func @rows(%x: tensor<?x?xf32>, %init: tensor<?xf32>) -> tensor<?xf32> {
  %f = linalg.reduce {arith.addf} ins(%x : tensor<?x?xf32>) outs(%init : tensor<?xf32>) dimensions = [1]
  return %f : tensor<?xf32>
}

// -----

// A view of sizes that are computed is one dimension in between.
// CHECK-LABEL: func.func @view(
// CHECK-SAME: kernel.form = "kernel"
// CHECK: %[[FLAT:.+]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1]]
// CHECK: %[[LINE:.+]] = tensor.cast %[[FLAT]] : tensor<32xf32> to tensor<?xf32>
// CHECK: tensor.expand_shape %[[LINE]] {{\[\[}}0, 1, 2]] output_shape [%{{.+}}, 2, %{{.+}}]
func.func @view(%x: tensor<4x8xf32>, %m: i64, %n: i64) -> tensor<?x2x?xf32> {
  %c2 = arith.constant 2 : i64
  %shape = tensor.from_elements %m, %c2, %n : tensor<3xi64>
  %y = tensor.reshape %x(%shape) : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<?x2x?xf32>
  return %y : tensor<?x2x?xf32>
}

// -----

// A division by 0 would end the process: the program's own check raises, wherever
// the code generator puts the division. So would -2**63 divided by -1.
// CHECK-LABEL: func.func @unknown_divisor(
// CHECK-SAME: kernel.form
// CHECK: %[[ZERO:.+]] = arith.cmpi eq, %arg1, %c0
// CHECK: %[[MINUS:.+]] = arith.cmpi eq, %arg1, %c-1
// CHECK: %[[LEAST:.+]] = arith.cmpi eq, %arg0, %c-9223372036854775808
// CHECK: %[[OVERFLOWS:.+]] = arith.andi %[[MINUS]], %[[LEAST]]
// CHECK: %[[TRAPS:.+]] = arith.ori %[[ZERO]], %[[OVERFLOWS]]
// CHECK: %[[DIVISOR:.+]] = arith.select %[[TRAPS]], %c1{{.*}}, %arg1
// CHECK: arith.floordivsi %arg0, %[[DIVISOR]]
func.func @unknown_divisor(%a: i64, %b: i64) -> i64 {
  %q = arith.floordivsi %a, %b : i64
  return %q : i64
}

// -----

// Divisors that are known to be others stay.
// CHECK-LABEL: func.func @known_divisor(
// CHECK-NOT: arith.select
// CHECK: arith.remsi %arg0, %c7
func.func @known_divisor(%a: i64) -> i64 {
  %m = arith.constant 7 : i64
  %q = arith.remsi %a, %m : i64
  return %q : i64
}

// -----

// Constants that torch-mlir was not to compute with come as arguments.
// CHECK-LABEL: func.func @constant_argument(
// CHECK-SAME: %arg0: tensor<2xf32> {bufferization.writable = false, kernel.role = "input"}) ->
// CHECK: %[[K:.+]] = arith.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK: linalg.add ins(%arg0, %[[K]]
func.func @constant_argument(%x: tensor<2xf32>, %k: tensor<2xf32> {kernel.constant = dense<[1.0, 2.0]> : tensor<2xf32>}) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %y = linalg.add ins(%x, %k : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// Concatenations are insertions.
// CHECK-LABEL: func.func @concatenation(
// CHECK: tensor.insert_slice %arg0
// CHECK: tensor.insert_slice %arg1
func.func @concatenation(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<5xf32> {
  %r = tensor.concat dim(0) %x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// -----

// CHECK: kernel.form = "kernel"
func.func @main(%a: i64) -> i64 {
  %c7 = arith.constant 7 : i64
  %q = arith.remsi %a, %c7 : i64
  return %q : i64
}

// -----

// Functions that do not link, or lose digits.
// CHECK: kernel.reason = "math.sin"
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = math.sin %in : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// `math.exp` of a Python float is the C library's.
// CHECK: kernel.reason = "math.exp"
func.func @main(%x: f64) -> f64 {
  %y = math.exp %x : f64
  return %y : f64
}

// -----

// CHECK: kernel.reason = "125 products in one op"
func.func @main(%a: tensor<5x5xf32>, %b: tensor<5x5xf32>) -> tensor<5x5xf32> {
  %zero = arith.constant dense<0.0> : tensor<5x5xf32>
  %y = linalg.matmul ins(%a, %b : tensor<5x5xf32>, tensor<5x5xf32>) outs(%zero : tensor<5x5xf32>) -> tensor<5x5xf32>
  return %y : tensor<5x5xf32>
}

// -----

// More are taken of what is computed in tiles of registers.
// CHECK-LABEL: func.func @tiles(
// CHECK-SAME: kernel.form
func.func @tiles(%a: tensor<4x5xf32>, %b: tensor<5x5xf32>) -> tensor<4x5xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x5xf32>
  %y = linalg.matmul ins(%a, %b : tensor<4x5xf32>, tensor<5x5xf32>) outs(%zero : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// -----

// A row times a matrix uses each number of the matrix once; up to four times
// is quicker in a kernel.
// CHECK-LABEL: func.func @row(
// CHECK-SAME: kernel.form
func.func @row(%a: tensor<1x12xf32>, %b: tensor<12x10xf32>) -> tensor<1x10xf32> {
  %zero = arith.constant dense<0.0> : tensor<1x10xf32>
  %y = linalg.matmul ins(%a, %b : tensor<1x12xf32>, tensor<12x10xf32>) outs(%zero : tensor<1x10xf32>) -> tensor<1x10xf32>
  return %y : tensor<1x10xf32>
}

// -----

// CHECK: kernel.reason = "func.call"
func.func private @pytorch(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @pytorch(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// CHECK: kernel.reason = "a value of type bf16"
func.func @main(%x: i64) -> i64 {
  %b = arith.sitofp %x : i64 to bf16
  %i = arith.fptosi %b : bf16 to i64
  return %i : i64
}

// -----

// A select of tensors whose sizes may differ is a branch, not elementwise.
// FEW-LABEL: func.func @select(
// FEW-SAME: %[[C:[a-z0-9]+]]: i1
// FEW: scf.if %[[C]] -> (tensor<?xf32>)
// FEW-NOT: linalg.generic
// FEW: return
func.func @select(%c: i1, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.select %c, %x, %y : tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// A padding is a tensor of the number with an insertion.
// FEW-LABEL: func.func @padded(
// FEW-SAME: kernel.form
// FEW: tensor.insert_slice
// FEW-NOT: tensor.pad
// FEW: return
func.func @padded(%x: tensor<4xf32>) -> tensor<7xf32> {
  %zero = arith.constant 0.0 : f32
  %y = tensor.pad %x low[1] high[2] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<4xf32> to tensor<7xf32>
  return %y : tensor<7xf32>
}

// -----

// What the example's sizes say of a dynamic size decides whether a product is large.
// CHECK-LABEL: func.func @few_rows(
// CHECK-SAME: attributes {kernel.form = "kernel"}
func.func @few_rows(%x: tensor<?x4xf32> {tssa.example_sizes = array<i64: 2>}, %w: tensor<4x4xf32>, %y: tensor<?x4xf32> {tssa.example_sizes = array<i64: 2>}) -> tensor<?x4xf32> {
  %z = linalg.matmul ins(%x, %w : tensor<?x4xf32>, tensor<4x4xf32>) outs(%y : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %z : tensor<?x4xf32>
}

// -----

// So does what a call may pass at most, also where the size is computed.
// CHECK-LABEL: func.func @bounded_rows(
// CHECK-SAME: attributes {kernel.form = "kernel"}
func.func @bounded_rows(%x: tensor<?x4xf32> {tssa.max_sizes = array<i64: 2>}, %w: tensor<4x4xf32>, %k: tensor<4x?xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %more = arith.addi %n, %c1 : index
  %rows = tensor.empty(%more) : tensor<?x4xf32>
  %y = tensor.empty(%more) : tensor<?x4xf32>
  %z = linalg.matmul ins(%rows, %w : tensor<?x4xf32>, tensor<4x4xf32>) outs(%y : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %z : tensor<?x4xf32>
}

// -----

// Nothing is known: 256 rows are assumed.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: kernel.reason = "4096 products in one op"
func.func @rows(%x: tensor<?x4xf32>, %w: tensor<4x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %z = linalg.matmul ins(%x, %w : tensor<?x4xf32>, tensor<4x4xf32>) outs(%y : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %z : tensor<?x4xf32>
}

// -----

// How numbers are added depends on how many there may be, not on the example: more
// than 4,096 are added in float64.
// CHECK-LABEL: func.func @sum_of_many(
// CHECK: linalg.generic
// CHECK: arith.extf %{{.+}} : f32 to f64
func.func @sum_of_many(%x: tensor<?xf32> {tssa.example_sizes = array<i64: 8>, tssa.max_sizes = array<i64: 10000>}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<?xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<f32>
  return %s : tensor<f32>
}

// -----

// Here as many as 4,096: they are added as they are.
// CHECK-LABEL: func.func @sum_of_few(
// CHECK-NOT: f64
// CHECK: return
func.func @sum_of_few(%x: tensor<?xf32> {tssa.example_sizes = array<i64: 8>, tssa.max_sizes = array<i64: 4096>}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<?xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<f32>
  return %s : tensor<f32>
}

// -----

// A tensor without elements is a tensor like any other: its loops have no trips.
// CHECK-LABEL: func.func @nothing(
// CHECK-SAME: attributes {kernel.form = "kernel"}
func.func @nothing(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<0xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %n = tensor.empty() : tensor<0xf32>
  return %y, %n : tensor<4xf32>, tensor<0xf32>
}
