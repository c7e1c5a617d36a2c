// RUN: ssa-opt %s --hoist-asserts | FileCheck %s

#row = affine_map<(d0) -> (d0)>

// The check of the index comes before what is stored there is computed.
// CHECK-LABEL: func.func @index
// CHECK-NEXT: arith.constant 4
// CHECK-NEXT: arith.cmpi
// CHECK-NEXT: cf.assert {{.*}} "IndexError: i"
// CHECK: linalg.generic
func.func @index(%x: tensor<4x3xf32>, %y: tensor<3xf32>, %i: index) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %z = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%y : tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%p: f32, %out: f32):
    %s = arith.addf %p, %p : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  %c4 = arith.constant 4 : index
  %fits = arith.cmpi ult, %i, %c4 : index
  cf.assert %fits, "IndexError: i"
  %r = tensor.insert_slice %z into %x[%i, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// Checks keep their order. One of an element stays behind the element, and one
// behind a loop that may fail or not end stays behind the loop.
// CHECK-LABEL: func.func @order
// CHECK: cf.assert {{.*}} "first"
// CHECK: tensor.extract
// CHECK-NEXT: arith.cmpi
// CHECK-NEXT: cf.assert {{.*}} "second"
// CHECK: scf.while
// CHECK: cf.assert {{.*}} "third"
func.func @order(%x: tensor<4xindex>, %i: index, %n: index, %ok: i1) -> tensor<4xindex> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xindex>
  %y = linalg.fill ins(%n : index) outs(%e : tensor<4xindex>) -> tensor<4xindex>
  cf.assert %ok, "first"
  %k = tensor.extract %x[%c0] : tensor<4xindex>
  %z = tensor.insert %n into %y[%c0] : tensor<4xindex>
  %less = arith.cmpi slt, %k, %n : index
  cf.assert %less, "second"
  %r = scf.while (%a = %n) : (index) -> index {
    %more = arith.cmpi sgt, %a, %c0 : index
    scf.condition(%more) %a : index
  } do {
  ^bb0(%a: index):
    %next = arith.subi %a, %c1 : index
    scf.yield %next : index
  }
  %few = arith.cmpi slt, %i, %n : index
  cf.assert %few, "third"
  return %z : tensor<4xindex>
}
