// RUN: ssa-opt %s --simplify-indices | FileCheck %s

func.func private @use(%x: tensor<4xf32>)

// The row before this one: i >= 1, so nothing is clamped.
// CHECK-LABEL: func.func @row_before
// CHECK: scf.for %[[I:.+]] =
// CHECK-NEXT: %[[ROW:.+]] = arith.subi %[[I]], %{{.+}} : index
// CHECK-NEXT: tensor.extract_slice %{{.+}}[%[[ROW]], 0]
func.func @row_before(%x: tensor<8x4xf32>) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %last = arith.constant 8 : i64
  scf.for %i = %c1 to %c8 step %c1 {
    %wide = arith.index_cast %i : index to i64
    %before = arith.subi %wide, %one : i64
    %above = arith.maxsi %before, %zero : i64
    %below = arith.minsi %above, %last : i64
    %row = arith.index_cast %below : i64 to index
    %s = tensor.extract_slice %x[%row, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
    func.call @use(%s) : (tensor<4xf32>) -> ()
  }
  return
}

// An index that may be negative stays clamped, and so does one that may be too
// large.
// CHECK-LABEL: func.func @clamped
// CHECK: arith.subi
// CHECK: arith.maxsi
// CHECK: arith.addi
// CHECK: arith.minsi
func.func @clamped(%x: tensor<8x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %last = arith.constant 7 : i64
  scf.for %i = %c0 to %c8 step %c1 {
    %wide = arith.index_cast %i : index to i64
    %before = arith.subi %wide, %one : i64
    %above = arith.maxsi %before, %zero : i64
    %row = arith.index_cast %above : i64 to index
    %s = tensor.extract_slice %x[%row, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
    func.call @use(%s) : (tensor<4xf32>) -> ()
    %after = arith.addi %wide, %one : i64
    %below = arith.minsi %after, %last : i64
    %next = arith.index_cast %below : i64 to index
    %t = tensor.extract_slice %x[%next, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
    func.call @use(%t) : (tensor<4xf32>) -> ()
  }
  return
}

// Sums of 32 bits wrap around earlier than those of indices.
// CHECK-LABEL: func.func @narrow
// CHECK: %[[SUM:.+]] = arith.addi %{{.+}}, %{{.+}} : i32
// CHECK: arith.index_cast %[[SUM]] : i32 to index
func.func @narrow(%a: i32, %b: i32) -> index {
  %sum = arith.addi %a, %b : i32
  %i = arith.index_cast %sum : i32 to index
  return %i : index
}

// The index of an op's loop is smaller than the size of the tensor.
// CHECK-LABEL: func.func @remainder
// CHECK: %[[I:.+]] = linalg.index 0
// CHECK-NOT: arith.remsi
// CHECK: tensor.extract %{{.+}}[%[[I]]]
func.func @remainder(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<8xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %at = arith.remsi %i, %c8 : index
    %n = tensor.extract %x[%at] : tensor<8xf32>
    linalg.yield %n : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}
