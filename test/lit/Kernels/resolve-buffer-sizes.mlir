// RUN: ssa-opt %s --resolve-buffer-sizes | FileCheck %s

// The size of merged dimensions is the product of theirs, which are those of the
// argument.
// CHECK-LABEL: func.func @merged
// CHECK-SAME: %[[X:.+]]: memref<?x?xf32>
// CHECK-DAG: %[[M:.+]] = memref.dim %[[X]], %c0
// CHECK-DAG: %[[N:.+]] = memref.dim %[[X]], %c1
// CHECK: %[[SIZE:.+]] = arith.muli
// CHECK-NOT: memref.dim %{{.*}}collapse
// CHECK: return %[[SIZE]]
func.func @merged(%x: memref<?x?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %flat = memref.collapse_shape %x [[0, 1]] : memref<?x?xf32> into memref<?xf32>
  %size = memref.dim %flat, %c0 : memref<?xf32>
  return %size : index
}

// CHECK-LABEL: func.func @made
// CHECK-SAME: %[[N:.+]]: index
// CHECK: return %[[N]]
func.func @made(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %x = memref.alloc(%n) : memref<?xf32>
  %base, %offset, %size, %stride = memref.extract_strided_metadata %x : memref<?xf32> -> memref<f32>, index, index, index
  return %size : index
}

// Three merged dimensions, one of them of a known size.
// CHECK-LABEL: func.func @three
// CHECK-SAME: %[[X:.+]]: memref<?x2x?xf32>
// CHECK-DAG: memref.dim %[[X]], %c0
// CHECK-DAG: memref.dim %[[X]], %c2
// CHECK: arith.muli
// CHECK-NOT: memref.dim %{{.*}}collapse
// CHECK: return
func.func @three(%x: memref<?x2x?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %flat = memref.collapse_shape %x [[0, 1, 2]] : memref<?x2x?xf32> into memref<?xf32>
  %size = memref.dim %flat, %c0 : memref<?xf32>
  return %size : index
}

// -----

// The size of what a branch ends in is a further result of the branch.
// CHECK-LABEL: func.func @branch(
// CHECK-SAME: %{{.+}}: i1, %[[M:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index)
// CHECK: %[[R:.+]]:2 = scf.if %{{.+}} -> (memref<?xf32>, index)
// CHECK: scf.yield %{{.+}}, %[[M]] : memref<?xf32>, index
// CHECK: scf.yield %{{.+}}, %[[N]] : memref<?xf32>, index
// CHECK: return %[[R]]#1
func.func @branch(%c: i1, %m: index, %n: index) -> index {
  %c0 = arith.constant 0 : index
  %r = scf.if %c -> (memref<?xf32>) {
    %a = memref.alloc(%m) : memref<?xf32>
    scf.yield %a : memref<?xf32>
  } else {
    %b = memref.alloc(%n) : memref<?xf32>
    scf.yield %b : memref<?xf32>
  }
  %size = memref.dim %r, %c0 : memref<?xf32>
  return %size : index
}

// -----

// A size is one further result however often it is asked for. Both arms of the
// second branch ask the first one: were each answered by a result of its own, a
// chain of branches would double them at each.
// CHECK-LABEL: func.func @chain(
// CHECK: %[[R:.+]]:2 = scf.if %{{.+}} -> (memref<?xf32>, index)
// CHECK: %[[S:.+]]:2 = scf.if %{{.+}} -> (memref<?xf32>, index)
// CHECK: scf.yield %[[R]]#0, %[[R]]#1
// CHECK: scf.yield %[[R]]#0, %[[R]]#1
// CHECK: return %[[S]]#1, %[[S]]#1, %[[R]]#1
func.func @chain(%c: i1, %d: i1, %m: index, %n: index) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %r = scf.if %c -> (memref<?xf32>) {
    %a = memref.alloc(%m) : memref<?xf32>
    scf.yield %a : memref<?xf32>
  } else {
    %b = memref.alloc(%n) : memref<?xf32>
    scf.yield %b : memref<?xf32>
  }
  %s = scf.if %d -> (memref<?xf32>) {
    memref.store %one, %r[%c0] : memref<?xf32>
    scf.yield %r : memref<?xf32>
  } else {
    scf.yield %r : memref<?xf32>
  }
  %size = memref.dim %s, %c0 : memref<?xf32>
  %again = memref.dim %s, %c0 : memref<?xf32>
  %before = memref.dim %r, %c0 : memref<?xf32>
  return %size, %again, %before : index, index, index
}

// -----

// CHECK-LABEL: func.func @select(
// CHECK-SAME: %[[C:.+]]: i1, %[[M:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index)
// CHECK: %[[SIZE:.+]] = arith.select %[[C]], %[[M]], %[[N]] : index
// CHECK: return %[[SIZE]]
func.func @select(%c: i1, %m: index, %n: index) -> index {
  %c0 = arith.constant 0 : index
  %a = memref.alloc(%m) : memref<?xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  %r = arith.select %c, %a, %b : memref<?xf32>
  %size = memref.dim %r, %c0 : memref<?xf32>
  return %size : index
}
