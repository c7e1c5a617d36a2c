// RUN: ssa-opt %s --compute-in-destination --cse | FileCheck %s

#row = affine_map<(d0) -> (d0)>

// The row is computed where it is inserted.
// CHECK-LABEL: func.func @row
// CHECK: %[[ROW:.+]] = tensor.extract_slice %{{.+}}[%{{.+}}, 0]
// CHECK: linalg.generic {{.*}} outs(%[[ROW]] : tensor<4xf32>)
func.func @row(%x: tensor<8x4xf32>, %y: tensor<4xf32>, %i: index) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %z = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%y : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %out: f32):
    %s = arith.addf %p, %p : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %r = tensor.insert_slice %z into %x[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// One that is made of another row would read a copy of that.
// CHECK-LABEL: func.func @from_another_row
// CHECK: tensor.extract_slice %{{.+}}
// CHECK-NOT: tensor.extract_slice
// CHECK: %[[NEW:.+]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT: linalg.generic {{.*}} outs(%[[NEW]] : tensor<4xf32>)
func.func @from_another_row(%x: tensor<8x4xf32>, %i: index, %j: index) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = tensor.extract_slice %x[%j, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
  %z = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%y : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %out: f32):
    %s = arith.addf %p, %p : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %r = tensor.insert_slice %z into %x[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// What one branch asserts of a size says nothing of the other one.
// CHECK-LABEL: func.func @asserted_in_a_branch
// CHECK: %[[E:.+]] = tensor.empty(%{{.+}}) : tensor<?xf32>
// CHECK: linalg.fill {{.*}} outs(%[[E]] : tensor<?xf32>)
// CHECK: scf.if
func.func @asserted_in_a_branch(%x: tensor<8xf32>, %n: index, %c: i1, %f: f32) -> tensor<8xf32> {
  %c2 = arith.constant 2 : index
  %e = tensor.empty(%n) : tensor<?xf32>
  %z = linalg.fill ins(%f : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = scf.if %c -> (tensor<8xf32>) {
    %two = arith.cmpi eq, %n, %c2 : index
    cf.assert %two, "mismatched size"
    %cast = tensor.cast %z : tensor<?xf32> to tensor<2xf32>
    %p = tensor.insert_slice %cast into %x[0] [2] [1] : tensor<2xf32> into tensor<8xf32>
    scf.yield %p : tensor<8xf32>
  } else {
    %q = tensor.insert_slice %z into %x[0] [%n] [1] : tensor<?xf32> into tensor<8xf32>
    scf.yield %q : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
