// Writes become functional ops, assigns along the path of the view, and an update of
// the root; reads become accesses of the newest version.
// RUN: ssa-opt --tssa-rewrite-mutation %s | FileCheck %s

// A write to the view alone would leave %a, which is what is returned, as it was.
// CHECK-LABEL: func.func @write_through_view(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.int
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[3],f32>
// CHECK: %[[ACCESS:.+]] = tssa.access "torch.aten.select.int" %{{.+}}[%int0, %[[ARG0]]
// CHECK: %[[COPY:.+]] = torch.aten.copy %[[ACCESS]], %[[ARG1]], %false
// CHECK: %[[ASSIGN:.+]] = tssa.assign "torch.aten.select.int" %{{.+}}, %[[COPY]][%int0, %[[ARG0]]
// CHECK: tssa.update %[[ASSIGN]] of %{{.+}}
// CHECK: return %{{.+}}
func.func @write_through_view(%i: !torch.int, %x: !torch.tensor<[3],f32>) -> !torch.tensor<[4,3],f32> {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %int0 = torch.constant.int 0
  %a = torch.tensor.literal(dense<0.0> : tensor<4x3xf32>) : !torch.tensor<[4,3],f32>
  %row = torch.aten.select.int %a, %int0, %i : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
  %w = torch.aten.copy_ %row, %x, %false : !torch.tensor<[3],f32>, !torch.tensor<[3],f32>, !torch.bool -> !torch.tensor<[3],f32>
  return %a : !torch.tensor<[4,3],f32>
}

// Without writes an access and nothing else is needed.
// CHECK-LABEL: func.func @view_without_write(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.int
// CHECK-NOT: tssa.assign
// CHECK-NOT: tssa.update
// CHECK: %[[ACCESS:.+]] = tssa.access "torch.aten.select.int" %[[ARG0]][%int0, %[[ARG1]]
// CHECK: %[[CLONE:.+]] = torch.aten.clone %[[ACCESS]], %none
// CHECK-NOT: tssa.assign
// CHECK-NOT: tssa.update
func.func @view_without_write(%x: !torch.tensor<[4,3],f32>, %i: !torch.int) -> !torch.tensor<[3],f32> {
  %int0 = torch.constant.int 0
  %none = torch.constant.none
  %row = torch.aten.select.int %x, %int0, %i : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
  %c = torch.aten.clone %row, %none : !torch.tensor<[3],f32>, !torch.none -> !torch.tensor<[3],f32>
  return %c : !torch.tensor<[3],f32>
}

// Passing up only one level would lose the row.
// CHECK-LABEL: func.func @write_through_view_of_view(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK: %[[ACCESS:.+]] = tssa.access "torch.aten.select.int" %[[ARG0]][%int0, %int1
// CHECK: %[[ACCESS_2:.+]] = tssa.access "torch.aten.select.int" %[[ACCESS]][%int0, %int0
// CHECK: %[[FILL:.+]] = torch.aten.fill.Scalar %[[ACCESS_2]], %int1
// CHECK: %[[ASSIGN:.+]] = tssa.assign "torch.aten.select.int" %[[ACCESS]], %[[FILL]][%int0, %int0
// CHECK: %[[ASSIGN_2:.+]] = tssa.assign "torch.aten.select.int" %[[ARG0]], %[[ASSIGN]][%int0, %int1
// CHECK: tssa.update %[[ASSIGN_2]] of %[[ARG0]]
// CHECK: return %[[ARG0]]
func.func @write_through_view_of_view(%x: !torch.tensor<[4,3],f32>) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %row = torch.aten.select.int %x, %int0, %int1 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
  %item = torch.aten.select.int %row, %int0, %int0 : !torch.tensor<[3],f32>, !torch.int, !torch.int -> !torch.tensor<[],f32>
  %w = torch.aten.fill_.Scalar %item, %int1 : !torch.tensor<[],f32>, !torch.int -> !torch.tensor<[],f32>
  return
}

// %row must not show what it held before the write to its base, %old must.
// CHECK-LABEL: func.func @read_overlapping_view_after_write(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK: %[[ACCESS:.+]] = tssa.access "torch.aten.select.int" %[[ARG0]][%int0, %int1
// CHECK: %[[CLONE:.+]] = torch.aten.clone %[[ACCESS]], %none
// CHECK: %[[ADD:.+]] = torch.aten.add.Scalar %[[ARG0]], %int1, %int1
// CHECK: tssa.update %[[ADD]] of %[[ARG0]]
// CHECK: %[[ACCESS_2:.+]] = tssa.access "torch.aten.select.int" %[[ARG0]][%int0, %int1
// CHECK: %[[ADD_2:.+]] = torch.aten.add.Tensor %[[ACCESS_2]], %[[CLONE]], %int1
// CHECK: return %[[ADD_2]], %[[ARG0]]
func.func @read_overlapping_view_after_write(%x: !torch.tensor<[4,3],f32>) -> !torch.tensor<[3],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %none = torch.constant.none
  %row = torch.aten.select.int %x, %int0, %int1 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
  %old = torch.aten.clone %row, %none : !torch.tensor<[3],f32>, !torch.none -> !torch.tensor<[3],f32>
  %w = torch.aten.add_.Scalar %x, %int1, %int1 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[4,3],f32>
  %sum = torch.aten.add.Tensor %row, %old, %int1 : !torch.tensor<[3],f32>, !torch.tensor<[3],f32>, !torch.int -> !torch.tensor<[3],f32>
  return %sum : !torch.tensor<[3],f32>
}

// The second read sees the same version: one access.
// CHECK-LABEL: func.func @two_reads_of_one_version(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK: tssa.update %{{.+}} of %[[ARG0]]
// CHECK: %[[ACCESS:.+]] = tssa.access "torch.aten.select.int" %[[ARG0]][%int0, %int1
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[ACCESS]]
// CHECK: %[[ADD:.+]] = torch.aten.add.Tensor %[[ACCESS]], %[[NEG]], %int1
// CHECK: return %[[ADD]], %[[ARG0]]
func.func @two_reads_of_one_version(%x: !torch.tensor<[4,3],f32>) -> !torch.tensor<[3],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %row = torch.aten.select.int %x, %int0, %int1 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
  %w = torch.aten.zero_ %x : !torch.tensor<[4,3],f32> -> !torch.tensor<[4,3],f32>
  %a = torch.aten.neg %row : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  %b = torch.aten.add.Tensor %row, %a, %int1 : !torch.tensor<[3],f32>, !torch.tensor<[3],f32>, !torch.int -> !torch.tensor<[3],f32>
  return %b : !torch.tensor<[3],f32>
}

// The list holds references: it shows the write that comes after it.
// CHECK-LABEL: func.func @list_built_before_write(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[3],f32>
// CHECK: %[[ZERO:.+]] = torch.aten.zero %[[ARG0]]
// CHECK: tssa.update %[[ZERO]] of %[[ARG0]]
// CHECK: %[[LISTCONSTRUCT:.+]] = torch.prim.ListConstruct %[[ARG0]], %[[ARG1]]
// CHECK: %[[CAT:.+]] = torch.aten.cat %[[LISTCONSTRUCT]], %int0
func.func @list_built_before_write(%x: !torch.tensor<[3],f32>, %y: !torch.tensor<[3],f32>) -> !torch.tensor<[6],f32> {
  %int0 = torch.constant.int 0
  %list = torch.prim.ListConstruct %x, %y : (!torch.tensor<[3],f32>, !torch.tensor<[3],f32>) -> !torch.list<tensor<[3],f32>>
  %w = torch.aten.zero_ %x : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  %r = torch.aten.cat %list, %int0 : !torch.list<tensor<[3],f32>>, !torch.int -> !torch.tensor<[6],f32>
  return %r : !torch.tensor<[6],f32>
}

// %w is %c, not a second tensor.
// CHECK-LABEL: func.func @result_of_write_is_the_tensor(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[3],f32>
// CHECK: %[[CLONE:.+]] = torch.aten.clone %[[ARG0]], %none
// CHECK: %[[ZERO:.+]] = torch.aten.zero %[[CLONE]]
// CHECK: tssa.update %[[ZERO]] of %[[CLONE]]
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[CLONE]]
// CHECK: tssa.update %[[NEG]] of %[[CLONE]]
// CHECK: return %[[CLONE]]
func.func @result_of_write_is_the_tensor(%x: !torch.tensor<[3],f32>) -> !torch.tensor<[3],f32> {
  %none = torch.constant.none
  %c = torch.aten.clone %x, %none : !torch.tensor<[3],f32>, !torch.none -> !torch.tensor<[3],f32>
  %w = torch.aten.zero_ %c : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  %w2 = torch.aten.neg_ %w : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  return %c : !torch.tensor<[3],f32>
}

// The caller sees the write, so that the final contents are one more result.
// CHECK-LABEL: func.func @written_argument(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[3],f32>
// CHECK-SAME: -> (!torch.vtensor<[3],f32> {tssa.alias_of = 1 : i64}, !torch.vtensor<[3],f32> {tssa.writeback = 0 : i64})
// CHECK: tssa.update %{{.+}} of %[[ARG0]]
// CHECK: return %[[ARG1]], %[[ARG0]]
func.func @written_argument(%x: !torch.tensor<[3],f32> {tssa.name = "x"}, %y: !torch.tensor<[3],f32>) -> !torch.tensor<[3],f32> {
  %w = torch.aten.zero_ %x : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  return %y : !torch.tensor<[3],f32>
}

// Which results are an argument, a view of one, or each other.
// CHECK-LABEL: func.func @results_that_alias(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.int
// CHECK-SAME: -> (!torch.vtensor<[4,3],f32> {tssa.alias_of = 0 : i64}, !torch.vtensor<[3],f32> {tssa.view_of = 0 : i64}, !torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32> {tssa.same_as = 2 : i64})
// CHECK: %[[ACCESS:.+]] = tssa.access "torch.aten.select.int" %[[ARG0]][%int0, %[[ARG1]]
// CHECK: return %[[ARG0]], %[[ACCESS]], %{{.+}}, %{{.+}}
func.func @results_that_alias(%x: !torch.tensor<[4,3],f32>, %i: !torch.int) -> (!torch.tensor<[4,3],f32>, !torch.tensor<[3],f32>, !torch.tensor<[4,3],f32>, !torch.tensor<[4,3],f32>) {
  %int0 = torch.constant.int 0
  %none = torch.constant.none
  %row = torch.aten.select.int %x, %int0, %i : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
  %c = torch.aten.clone %x, %none : !torch.tensor<[4,3],f32>, !torch.none -> !torch.tensor<[4,3],f32>
  return %x, %row, %c, %c : !torch.tensor<[4,3],f32>, !torch.tensor<[3],f32>, !torch.tensor<[4,3],f32>, !torch.tensor<[4,3],f32>
}

// %before must not be reused for what %row shows after the branch.
// CHECK-LABEL: func.func @views_taken_before_branch(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i1
// CHECK: %[[ACCESS:.+]] = tssa.access "torch.aten.select.int" %[[ARG0]][%int0, %int1
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[ACCESS]]
// CHECK: scf.if %[[ARG1]] {
// CHECK: %[[ACCESS_2:.+]] = tssa.access "torch.aten.select.int" %[[ARG0]][%int0, %int1
// CHECK: %[[ZERO:.+]] = torch.aten.zero %[[ACCESS_2]]
// CHECK: %[[ASSIGN:.+]] = tssa.assign "torch.aten.select.int" %[[ARG0]], %[[ZERO]][%int0, %int1
// CHECK: tssa.update %[[ASSIGN]] of %[[ARG0]]
// CHECK: %[[ACCESS_3:.+]] = tssa.access "torch.aten.select.int" %[[ARG0]][%int0, %int1
// CHECK: %[[NEG_2:.+]] = torch.aten.neg %[[ACCESS_3]]
func.func @views_taken_before_branch(%x: !torch.tensor<[4,3],f32>, %c: i1) -> !torch.tensor<[3],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %row = torch.aten.select.int %x, %int0, %int1 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
  %before = torch.aten.neg %row : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  scf.if %c {
    %w = torch.aten.zero_ %row : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  }
  %after = torch.aten.neg %row : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  return %after : !torch.tensor<[3],f32>
}

// Two tensors that start from one value: an update of the first must not rename the second.
// CHECK-LABEL: func.func @literal_shared_by_cse(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[2],f32>
// CHECK: %[[TENSOR_STATIC_INFO_CAST:.+]] = torch.tensor_static_info_cast %[[ARG0]]
// CHECK: %[[TENSOR_STATIC_INFO_CAST_2:.+]] = torch.tensor_static_info_cast %[[ARG0]]
// CHECK: %[[ZERO:.+]] = torch.aten.zero %[[TENSOR_STATIC_INFO_CAST]]
// CHECK: tssa.update %[[ZERO]] of %[[TENSOR_STATIC_INFO_CAST]]
// CHECK: return %[[TENSOR_STATIC_INFO_CAST]], %[[TENSOR_STATIC_INFO_CAST_2]]
func.func @literal_shared_by_cse(%x: !torch.vtensor<[2],f32>) -> (!torch.tensor<[2],f32>, !torch.tensor<[2],f32>) {
  %a = torch.copy.to_tensor %x : !torch.tensor<[2],f32>
  %b = torch.copy.to_tensor %x : !torch.tensor<[2],f32>
  %w = torch.aten.zero_ %a : !torch.tensor<[2],f32> -> !torch.tensor<[2],f32>
  return %a, %b : !torch.tensor<[2],f32>, !torch.tensor<[2],f32>
}

// %s is made in the first region: its storage has no name in the second one and after the loop.
// CHECK-LABEL: func.func @fresh_tensor_leaves_while(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i1
// CHECK: %[[WHILE:.+]] = scf.while : () -> !torch.vtensor<[4],f32> {
// CHECK: %[[CLONE:.+]] = torch.aten.clone %[[ARG0]], %none
// CHECK: scf.condition(%[[ARG1]]) %[[CLONE]] : !torch.vtensor<[4],f32>
// CHECK: %[[ZERO:.+]] = torch.aten.zero %{{.+}}
// CHECK: tssa.update %[[ZERO]] of %{{.+}}
// CHECK: scf.yield
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[WHILE]]
// CHECK: tssa.update %[[NEG]] of %[[WHILE]]
func.func @fresh_tensor_leaves_while(%x: !torch.tensor<[4],f32>, %c: i1) -> !torch.tensor<[4],f32> {
  %none = torch.constant.none
  %r = scf.while : () -> !torch.tensor<[4],f32> {
    %s = torch.aten.clone %x, %none : !torch.tensor<[4],f32>, !torch.none -> !torch.tensor<[4],f32>
    scf.condition(%c) %s : !torch.tensor<[4],f32>
  } do {
  ^bb0(%t: !torch.tensor<[4],f32>):
    %w = torch.aten.zero_ %t : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
    scf.yield
  }
  %w = torch.aten.neg_ %r : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  return %r : !torch.tensor<[4],f32>
}

// What canonicalization makes of a small branch is a storage of its own.
// CHECK-LABEL: func.func @select_of_tensors(
// CHECK-SAME: %{{[a-z0-9]+}}: !torch.vtensor<[4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i1
// CHECK: %[[SELECT:.+]] = arith.select %[[ARG1]], %{{.+}}, %{{.+}}
// CHECK: %[[ZERO:.+]] = torch.aten.zero %[[SELECT]]
// CHECK: tssa.update %[[ZERO]] of %[[SELECT]]
// CHECK: return %[[SELECT]]
func.func @select_of_tensors(%x: !torch.tensor<[4],f32>, %c: i1) -> !torch.tensor<[4],f32> {
  %none = torch.constant.none
  %a = torch.aten.neg %x : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  %b = torch.aten.abs %x : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  %s = arith.select %c, %a, %b : !torch.tensor<[4],f32>
  %w = torch.aten.zero_ %s : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  return %s : !torch.tensor<[4],f32>
}

// A new tensor that two carried values share: without writes there is nothing to
// reject.
// CHECK-LABEL: func.func @loop_carries_new_tensor_twice(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: index
// CHECK: %[[FOR:.+]]:2 = scf.for %[[IV:.+]] = %{{.+}} to %[[ARG1]] step %{{.+}} iter_args(%[[CARRIED:.+]] = %[[ARG0]], %[[CARRIED_2:.+]] = %[[ARG0]]) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>) {
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[CARRIED_2]]
// CHECK: scf.yield %[[NEG]], %[[NEG]] : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>
// CHECK: return %[[FOR]]#1
func.func @loop_carries_new_tensor_twice(%x: !torch.tensor<[4],f32>, %n: index) -> !torch.tensor<[4],f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x) -> (!torch.tensor<[4],f32>, !torch.tensor<[4],f32>) {
    %t = torch.aten.neg %b : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
    scf.yield %t, %t : !torch.tensor<[4],f32>, !torch.tensor<[4],f32>
  }
  return %r#1 : !torch.tensor<[4],f32>
}

// The tensor that an iteration makes is written in the next one, under its one name.
// CHECK-LABEL: func.func @write_of_carried_new_tensor(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: index
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[ARG0]]
// CHECK: %[[FOR:.+]] = scf.for %[[IV:.+]] = %{{.+}} to %[[ARG1]] step %{{.+}} iter_args(%[[CARRIED:.+]] = %[[NEG]]) -> (!torch.vtensor<[4],f32>) {
// CHECK: %[[ZERO:.+]] = torch.aten.zero %[[CARRIED]]
// CHECK: tssa.update %[[ZERO]] of %[[CARRIED]]
// CHECK: %[[NEG_2:.+]] = torch.aten.neg %[[CARRIED]]
// CHECK: scf.yield %[[NEG_2]] : !torch.vtensor<[4],f32>
// CHECK: return %[[FOR]]
func.func @write_of_carried_new_tensor(%x: !torch.tensor<[4],f32>, %n: index) -> !torch.tensor<[4],f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = torch.aten.neg %x : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %p) -> (!torch.tensor<[4],f32>) {
    %w = torch.aten.zero_ %a : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
    %t = torch.aten.neg %a : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
    scf.yield %t : !torch.tensor<[4],f32>
  }
  return %r : !torch.tensor<[4],f32>
}

// A mutable view of an immutable tensor shares nothing that could be seen. Used to
// crash.
// CHECK-LABEL: func.func @mutable_view_of_immutable(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK: %[[SELECT:.+]] = torch.aten.select.int %[[ARG0]], %int0, %int0
// CHECK: %[[ZERO:.+]] = torch.aten.zero %[[SELECT]]
// CHECK: tssa.update %[[ZERO]] of %[[SELECT]]
// CHECK: return %[[SELECT]]
func.func @mutable_view_of_immutable(%x: !torch.vtensor<[4],f32>) -> !torch.tensor<[],f32> {
  %int0 = torch.constant.int 0
  %r = torch.aten.select.int %x, %int0, %int0 : !torch.vtensor<[4],f32>, !torch.int, !torch.int -> !torch.tensor<[],f32>
  %w = torch.aten.zero_ %r : !torch.tensor<[],f32> -> !torch.tensor<[],f32>
  return %r : !torch.tensor<[],f32>
}

// A view op without its operands is not taken for one. Used to crash.
// CHECK-LABEL: func.func @view_op_without_operands(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK: %[[OPERATOR:.+]] = torch.operator "torch.aten.select.int"(%[[ARG0]])
// CHECK: return %[[OPERATOR]]
func.func @view_op_without_operands(%x: !torch.tensor<[4],f32>) -> !torch.tensor<[],f32> {
  %r = torch.operator "torch.aten.select.int"(%x) : (!torch.tensor<[4],f32>) -> !torch.tensor<[],f32>
  return %r : !torch.tensor<[],f32>
}

// Without writes the pieces are what they were.
// CHECK-LABEL: func.func @list_of_views(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK: %[[SPLIT:.+]] = torch.aten.split.Tensor %[[ARG0]], %int2, %int0
// CHECK: %[[CAT:.+]] = torch.aten.cat %[[SPLIT]], %int0
func.func @list_of_views(%x: !torch.tensor<[4],f32>) -> !torch.tensor<[4],f32> {
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  %list = torch.aten.split.Tensor %x, %int2, %int0 : !torch.tensor<[4],f32>, !torch.int, !torch.int -> !torch.list<tensor<[2],f32>>
  %r = torch.aten.cat %list, %int0 : !torch.list<tensor<[2],f32>>, !torch.int -> !torch.tensor<[4],f32>
  return %r : !torch.tensor<[4],f32>
}
