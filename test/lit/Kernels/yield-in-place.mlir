// RUN: ssa-opt %s -split-input-file -verify-diagnostics --yield-in-place | FileCheck %s

// An update of the carried tensor is in place: no copy.
// CHECK-LABEL: func.func @updated
// CHECK-NOT: materialize_in_destination
func.func @updated(%n: index, %init: tensor<4xf32> {bufferization.writable = false}) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %init) -> (tensor<4xf32>) {
    %y = tensor.insert %f into %x[%i] : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// Tensors without contents are two, though CSE made one of them, and views of
// them, too.
// CHECK-LABEL: func.func @empty
// CHECK: %[[E:.+]] = tensor.empty()
// CHECK: %[[F:.+]] = tensor.empty()
// CHECK: %[[A:.+]] = tensor.cast %[[F]]
// CHECK: %[[B:.+]] = tensor.cast %[[E]]
// CHECK: scf.for {{.*}} iter_args(%{{.+}} = %[[B]], %{{.+}} = %[[A]])
func.func @empty(%n: index) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f32
  %g = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %v = tensor.cast %e : tensor<4xf32> to tensor<?xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %v, %b = %v) -> (tensor<?xf32>, tensor<?xf32>) {
    %x = tensor.insert %f into %a[%i] : tensor<?xf32>
    %y = tensor.insert %g into %b[%i] : tensor<?xf32>
    scf.yield %x, %y : tensor<?xf32>, tensor<?xf32>
  }
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
}

// -----

// A new tensor is copied to where the loop carries it.
// CHECK-LABEL: func.func @replaced
// CHECK: scf.for {{.*}} iter_args(%[[X:.+]] =
// CHECK:   %[[Y:.+]] = linalg.fill
// CHECK:   %[[COPY:.+]] = bufferization.materialize_in_destination %[[Y]] in %[[X]]
// CHECK:   scf.yield %[[COPY]]
func.func @replaced(%n: index, %init: tensor<4xf32> {bufferization.writable = false}) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %init) -> (tensor<4xf32>) {
    %f = tensor.extract %x[%c0] : tensor<4xf32>
    %e = tensor.empty() : tensor<4xf32>
    %y = linalg.fill ins(%f : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// Tensors that change places go through temporaries: the first copy would
// overwrite what the second one reads.
// CHECK-LABEL: func.func @swapped
// CHECK: scf.for {{.*}} iter_args(%[[A:.+]] = %{{.+}}, %[[B:.+]] = %{{.+}})
// CHECK:   %[[TB:.+]] = bufferization.alloc_tensor() copy(%[[B]])
// CHECK:   %[[TA:.+]] = bufferization.alloc_tensor() copy(%[[A]])
// CHECK:   %[[NA:.+]] = bufferization.materialize_in_destination %[[TB]] in %[[A]]
// CHECK:   %[[NB:.+]] = bufferization.materialize_in_destination %[[TA]] in %[[B]]
// CHECK:   scf.yield %[[NA]], %[[NB]]
func.func @swapped(%n: index, %p: tensor<4xf32> {bufferization.writable = false},
                   %q: tensor<4xf32> {bufferization.writable = false}) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %p, %b = %q) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.yield %b, %a : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Arms that end in different buffers share one in front of the branch.
// CHECK-LABEL: func.func @either
// CHECK: %[[PLACE:.+]] = bufferization.alloc_tensor()
// CHECK: scf.if
// CHECK:   bufferization.materialize_in_destination %{{.+}} in %[[PLACE]]
// CHECK: } else {
// CHECK:   bufferization.materialize_in_destination %{{.+}} in %[[PLACE]]
func.func @either(%c: i1, %p: tensor<4xf32> {bufferization.writable = false}) -> tensor<4xf32> {
  %f = arith.constant 1.0 : f32
  %r = scf.if %c -> (tensor<4xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %y = linalg.fill ins(%f : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  } else {
    scf.yield %p : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// An arm that leaves a tensor as it is decides for its buffer, if the tensor may
// be written.
// CHECK-LABEL: func.func @kept
// CHECK-NOT: alloc_tensor
// CHECK: scf.if
// CHECK:   %[[Y:.+]] = linalg.fill
// CHECK:   %[[IN:.+]] = tensor.insert_slice %[[Y]] into %arg1
// CHECK:   scf.yield %[[IN]]
// CHECK: } else {
// CHECK:   scf.yield %arg1
func.func @kept(%c: i1, %p: tensor<4xf32>) -> tensor<4xf32> {
  %f = arith.constant 1.0 : f32
  %r = scf.if %c -> (tensor<4xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %y = linalg.fill ins(%f : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  } else {
    scf.yield %p : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// Dynamic sizes are those of what stands in front of the branch.
// CHECK-LABEL: func.func @dynamic
// CHECK: %[[N:.+]] = tensor.dim %arg1
// CHECK: %[[PLACE:.+]] = bufferization.alloc_tensor(%[[N]])
// CHECK: scf.if
// CHECK:   bufferization.materialize_in_destination %{{.+}} in %[[PLACE]]
func.func @dynamic(%c: i1, %p: tensor<?xf32> {bufferization.writable = false}) -> tensor<?xf32> {
  %f = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %r = scf.if %c -> (tensor<?xf32>) {
    %n = tensor.dim %p, %c0 : tensor<?xf32>
    %e = tensor.empty(%n) : tensor<?xf32>
    %y = linalg.fill ins(%f : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  } else {
    scf.yield %p : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// A buffer cannot grow.
func.func @grows(%n: index, %init: tensor<?xf32> {bufferization.writable = false}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %init) -> (tensor<?xf32>) {
    %size = tensor.dim %x, %c0 : tensor<?xf32>
    %more = arith.addi %size, %c1 : index
    %e = tensor.empty(%more) : tensor<?xf32>
    %y = linalg.fill ins(%f : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    // expected-error @below {{unsupported: a tensor that may change its size in a loop}}
    scf.yield %y : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// The arms of a branch may end in buffers of different sizes.
// CHECK-LABEL: func.func @either_size
// CHECK-NOT: tensor.insert_slice
// CHECK-NOT: materialize_in_destination
// CHECK: return
func.func @either_size(%c: i1, %p: tensor<?xf32> {bufferization.writable = false}, %n: index) -> tensor<?xf32> {
  %f = arith.constant 1.0 : f32
  %r = scf.if %c -> (tensor<?xf32>) {
    %e = tensor.empty(%n) : tensor<?xf32>
    %y = linalg.fill ins(%f : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  } else {
    scf.yield %p : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// An assertion says that a tensor keeps its size, if it is reached first.
// CHECK-LABEL: func.func @asserted
// CHECK: scf.for {{.*}} iter_args(%[[X:.+]] = %{{.+}})
// CHECK: cf.assert
// CHECK: bufferization.materialize_in_destination %{{.+}} in %[[X]]
func.func @asserted(%p: tensor<?xf32>, %n: index, %more: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %p) -> (tensor<?xf32>) {
    %size = tensor.dim %x, %c0 : tensor<?xf32>
    %same = arith.cmpi eq, %size, %more : index
    cf.assert %same, "mismatched size for broadcast"
    %e = tensor.empty(%more) : tensor<?xf32>
    %y = linalg.fill ins(%f : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

func.func @asserted_too_late(%c: i1, %p: tensor<?xf32>, %n: index, %more: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %p) -> (tensor<?xf32>) {
    %e = tensor.empty(%more) : tensor<?xf32>
    %y = linalg.fill ins(%f : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.if %c {
      %size = tensor.dim %x, %c0 : tensor<?xf32>
      %same = arith.cmpi eq, %size, %more : index
      cf.assert %same, "mismatched size for broadcast"
    }
    // expected-error @below {{unsupported: a tensor that may change its size in a loop}}
    scf.yield %y : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// What a `while` passes on has the number of the argument that it is in: tensors
// first, the others behind them.
// CHECK-LABEL: func.func @aligned
// CHECK: scf.while (%[[X:.+]] = %{{.+}}, %[[I:.+]] = %{{.+}}) : (tensor<4xf32>, i64) -> (tensor<4xf32>, i64)
// CHECK:   scf.condition(%{{.+}}) %[[X]], %[[I]]
// CHECK: ^bb0(%[[X2:.+]]: tensor<4xf32>, %[[I2:.+]]: i64):
// CHECK:   %[[Y:.+]] = tensor.insert
// CHECK:   scf.yield %[[Y]], %{{.+}} : tensor<4xf32>, i64
func.func @aligned(%n: i64, %init: tensor<4xf32> {bufferization.writable = false}) -> (i64, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : i64
  %f = arith.constant 1.0 : f32
  %r:2 = scf.while (%i = %c1, %x = %init) : (i64, tensor<4xf32>) -> (i64, tensor<4xf32>) {
    %more = arith.cmpi slt, %i, %n : i64
    scf.condition(%more) %i, %x : i64, tensor<4xf32>
  } do {
  ^bb0(%i: i64, %x: tensor<4xf32>):
    %y = tensor.insert %f into %x[%c0] : tensor<4xf32>
    %next = arith.addi %i, %c1 : i64
    scf.yield %next, %y : i64, tensor<4xf32>
  }
  return %r#0, %r#1 : i64, tensor<4xf32>
}

// -----

// New contents of an argument end in its buffer. An update is there already.
// CHECK-LABEL: func.func @written
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[Y:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[UPDATED:.+]] = tensor.insert
// CHECK: %[[NEW:.+]] = linalg.fill
// CHECK: %[[COPY:.+]] = bufferization.materialize_in_destination %[[NEW]] in %[[Y]]
// CHECK: return %[[UPDATED]], %[[COPY]]
func.func @written(%x: tensor<4xf32>, %y: tensor<4xf32>, %f: f32)
    -> (tensor<4xf32> {tssa.writeback = 0 : i64}, tensor<4xf32> {tssa.writeback = 1 : i64}) {
  %c0 = arith.constant 0 : index
  %updated = tensor.insert %f into %x[%c0] : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %new = linalg.fill ins(%f : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %updated, %new : tensor<4xf32>, tensor<4xf32>
}

// -----

// What a result still needs of the old contents is copied before. The function
// returns the new contents as the user's result, too.
// CHECK-LABEL: func.func @exchanged
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[Y:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[OLD:.+]] = bufferization.alloc_tensor() copy(%[[X]])
// CHECK: %[[COPY:.+]] = bufferization.materialize_in_destination %[[Y]] in %[[X]]
// CHECK: return %[[OLD]], %[[COPY]], %[[COPY]]
func.func @exchanged(%x: tensor<4xf32>, %y: tensor<4xf32> {bufferization.writable = false})
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32> {tssa.writeback = 0 : i64}) {
  return %x, %y, %y : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Three dimensions are merged into one, of which nobody knows the size.
func.func @merged(%n: index, %init: tensor<?xf32> {bufferization.writable = false}, %a: index, %b: index, %f: f32) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %init) -> (tensor<?xf32>) {
    %y = tensor.empty(%a, %b) : tensor<?x2x?xf32>
    %z = linalg.fill ins(%f : f32) outs(%y : tensor<?x2x?xf32>) -> tensor<?x2x?xf32>
    %flat = tensor.collapse_shape %z [[0, 1, 2]] : tensor<?x2x?xf32> into tensor<?xf32>
    // expected-error @below {{unsupported: a tensor that may change its size in a loop}}
    scf.yield %flat : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// Arms of nested branches that may all be the result end in one buffer, outside
// of them all. If each branch had one, the analysis would take the buffer of
// the inner one and the input for one and the same, and could copy neither.
// CHECK-LABEL: func.func @nested_arms
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>
// CHECK: %[[PLACE:.+]] = bufferization.alloc_tensor() : tensor<4xf32>
// CHECK: scf.if
// CHECK:   scf.if
// CHECK:     bufferization.materialize_in_destination %[[X]] in %[[PLACE]]
// CHECK:   } else {
// CHECK:     bufferization.materialize_in_destination %{{.+}} in %[[PLACE]]
// CHECK: } else {
// CHECK:   bufferization.materialize_in_destination %[[X]] in %[[PLACE]]
func.func @nested_arms(%x: tensor<4xf32> {bufferization.writable = false}, %a: i1, %b: i1) -> tensor<4xf32> {
  %r = scf.if %a -> (tensor<4xf32>) {
    %s = scf.if %b -> (tensor<4xf32>) {
      scf.yield %x : tensor<4xf32>
    } else {
      %e = tensor.empty() : tensor<4xf32>
      %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      scf.yield %y : tensor<4xf32>
    }
    scf.yield %s : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// Two tensors begin as the argument, which the second of them updates: the first
// begins with a copy.
// CHECK-LABEL: func.func @equal_starts
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>
// CHECK: %[[COPY:.+]] = bufferization.alloc_tensor() copy(%[[X]])
// CHECK: scf.for {{.*}} iter_args(%{{.+}} = %[[COPY]], %{{.+}} = %[[X]])
// CHECK-NOT: materialize
func.func @equal_starts(%x: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32> {tssa.writeback = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x) -> (tensor<4xf32>, tensor<4xf32>) {
    %p = tensor.extract %a[%c0] : tensor<4xf32>
    %q = tensor.extract %b[%c1] : tensor<4xf32>
    %s = arith.addf %p, %q : f32
    %a2 = tensor.insert %s into %a[%c1] : tensor<4xf32>
    %b2 = tensor.insert %s into %b[%c0] : tensor<4xf32>
    scf.yield %a2, %b2 : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}
