// The location of each mutable tensor: its root and the views from there.
// RUN: ssa-opt-test --test-print-tensor-aliases %s -o /dev/null | FileCheck %s

// Two views of one tensor share its root, however long the path.
// CHECK-LABEL: function @views
// CHECK: %arg0 -> %arg0 (written)
// CHECK: %[[ROW:.+]] -> %arg0 . torch.aten.select.int
// CHECK: %[[ITEM:.+]] -> %arg0 . torch.aten.select.int . torch.aten.select.int
// CHECK: %[[T:.+]] -> %arg0 . torch.aten.t
// CHECK: %{{.+}} -> %arg0 . torch.aten.select.int . torch.aten.select.int
func.func @views(%x: !torch.tensor<[4,3],f32>) {
  %int0 = torch.constant.int 0
  %row = torch.aten.select.int %x, %int0, %int0 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
  %item = torch.aten.select.int %row, %int0, %int0 : !torch.tensor<[3],f32>, !torch.int, !torch.int -> !torch.tensor<[],f32>
  %t = torch.aten.t %x : !torch.tensor<[4,3],f32> -> !torch.tensor<[3,4],f32>
  %w = torch.aten.zero_ %item : !torch.tensor<[],f32> -> !torch.tensor<[],f32>
  return
}

// A clone is a storage of its own; what is not written has no mark.
// CHECK-LABEL: function @fresh
// CHECK: %arg0 -> %arg0{{$}}
// CHECK: %[[C:.+]] -> %[[C]] (written)
func.func @fresh(%x: !torch.tensor<[3],f32>) {
  %none = torch.constant.none
  %c = torch.aten.clone %x, %none : !torch.tensor<[3],f32>, !torch.none -> !torch.tensor<[3],f32>
  %w = torch.aten.zero_ %c : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  return
}

// What may be a view or a copy is neither.
// CHECK-LABEL: function @view_or_copy
// CHECK: %arg0 -> %arg0{{$}}
// CHECK: %[[R:.+]] -> %[[R]] (merge)
func.func @view_or_copy(%x: !torch.tensor<[2,2],f32>) {
  %int4 = torch.constant.int 4
  %sizes = torch.prim.ListConstruct %int4 : (!torch.int) -> !torch.list<int>
  %r = torch.aten.reshape %x, %sizes : !torch.tensor<[2,2],f32>, !torch.list<int> -> !torch.tensor<[4],f32>
  return
}

// Both branches yield the same view: no merge.
// CHECK-LABEL: function @branches_agree
// CHECK: %[[ROW:.+]] -> %arg0 . torch.aten.select.int
// CHECK: %{{.+}} -> %arg0 . torch.aten.select.int{{$}}
// CHECK-NOT: merge
func.func @branches_agree(%x: !torch.tensor<[4,3],f32>, %c: i1) {
  %int0 = torch.constant.int 0
  %row = torch.aten.select.int %x, %int0, %int0 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
  %r = scf.if %c -> !torch.tensor<[3],f32> {
    scf.yield %row : !torch.tensor<[3],f32>
  } else {
    scf.yield %row : !torch.tensor<[3],f32>
  }
  return
}

// CHECK-LABEL: function @branches_differ
// CHECK: %arg1 -> %arg1{{$}}
// CHECK: %[[R:.+]] -> %[[R]] (merge)
func.func @branches_differ(%x: !torch.tensor<[3],f32>, %y: !torch.tensor<[3],f32>, %c: i1) {
  %r = scf.if %c -> !torch.tensor<[3],f32> {
    scf.yield %x : !torch.tensor<[3],f32>
  } else {
    scf.yield %y : !torch.tensor<[3],f32>
  }
  return
}

// The same as a select.
// CHECK-LABEL: function @select
// CHECK: %[[R:.+]] -> %[[R]] (merge)
// CHECK: %{{.+}} -> %arg0{{$}}
func.func @select(%x: !torch.tensor<[3],f32>, %y: !torch.tensor<[3],f32>, %c: i1) {
  %r = arith.select %c, %x, %y : !torch.tensor<[3],f32>
  %s = arith.select %c, %x, %x : !torch.tensor<[3],f32>
  return
}

// The result of an in-place op, carried by the loop, is the tensor itself.
// CHECK-LABEL: function @loop_carries_itself
// CHECK: %arg0 -> %arg0 (written)
// CHECK: %[[R:.+]] -> %arg0{{$}}
// CHECK: %[[K:.+]] -> %arg0{{$}}
// CHECK-NOT: merge
func.func @loop_carries_itself(%x: !torch.tensor<[3],f32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%k = %x) -> (!torch.tensor<[3],f32>) {
    %w = torch.aten.zero_ %k : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
    scf.yield %w : !torch.tensor<[3],f32>
  }
  return
}

// Swapped: each is one of two, in the loop and after it.
// CHECK-LABEL: function @loop_swaps
// CHECK: %[[R:.+]]#0 -> %[[R]]#0 (merge)
// CHECK: %[[R]]#1 -> %[[R]]#1 (merge)
// CHECK: %[[A:.+]] -> %[[A]] (merge)
// CHECK: %[[B:.+]] -> %[[B]] (merge)
func.func @loop_swaps(%x: !torch.tensor<[3],f32>, %y: !torch.tensor<[3],f32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (!torch.tensor<[3],f32>, !torch.tensor<[3],f32>) {
    scf.yield %b, %a : !torch.tensor<[3],f32>, !torch.tensor<[3],f32>
  }
  return
}

// The view has no name outside of the region that took it.
// CHECK-LABEL: function @view_leaves_region
// CHECK: %[[R:.+]] -> %[[R]] (merge)
// CHECK: %{{.+}} -> %arg0 . torch.aten.select.int
func.func @view_leaves_region(%x: !torch.tensor<[3],f32>) {
  %int0 = torch.constant.int 0
  %r = scf.execute_region -> !torch.tensor<[],f32> {
    %item = torch.aten.select.int %x, %int0, %int0 : !torch.tensor<[3],f32>, !torch.int, !torch.int -> !torch.tensor<[],f32>
    scf.yield %item : !torch.tensor<[],f32>
  }
  return
}
