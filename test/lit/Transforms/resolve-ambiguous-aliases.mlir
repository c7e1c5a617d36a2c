// Names that are one of several tensors get a tag; writes go where it says.
// RUN: ssa-opt --tssa-resolve-ambiguous-aliases %s | FileCheck %s

// Row 0 of %x or row 1 of %y, written: the tag says which, and the copy goes there.
// CHECK-LABEL: func.func @view_chosen_by_branch(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.tensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.tensor<[4,3],f32>
// CHECK-SAME: %[[ARG2:[a-z0-9]+]]: i1
// CHECK: %[[IF:.+]]:2 = scf.if %[[ARG2]] -> (!torch.tensor<[3],f32>, i64) {
// CHECK: %[[SELECT:.+]] = torch.aten.select.int %[[ARG0]], %int0, %int0
// CHECK: %[[CLONE:.+]] = torch.aten.clone %[[SELECT]], %none
// CHECK: scf.yield %[[CLONE]], %{{.+}} : !torch.tensor<[3],f32>, i64
// CHECK: } else {
// CHECK: %[[SELECT_2:.+]] = torch.aten.select.int %[[ARG1]], %int0, %int1
// CHECK: %[[CLONE_2:.+]] = torch.aten.clone %[[SELECT_2]], %none
// CHECK: scf.yield %[[CLONE_2]], %{{.+}} : !torch.tensor<[3],f32>, i64
// CHECK: %[[CMPI:.+]] = arith.cmpi eq, %[[IF]]#1, %{{.+}}
// CHECK: %[[IF_2:.+]] = scf.if %[[CMPI]] -> (!torch.tensor<[3],f32>) {
// CHECK: %[[SELECT_3:.+]] = torch.aten.select.int %[[ARG0]], %int0{{(_[0-9]+)?}}, %int0{{(_[0-9]+)?}}
// CHECK: %[[CLONE_3:.+]] = torch.aten.clone %[[SELECT_3]], %none
// CHECK: scf.yield %[[CLONE_3]] : !torch.tensor<[3],f32>
// CHECK: } else {
// CHECK: %[[SELECT_4:.+]] = torch.aten.select.int %[[ARG1]], %int0{{(_[0-9]+)?}}, %int1{{(_[0-9]+)?}}
// CHECK: %[[CLONE_4:.+]] = torch.aten.clone %[[SELECT_4]], %none
// CHECK: scf.yield %[[CLONE_4]] : !torch.tensor<[3],f32>
// CHECK: %[[NEG:.+]] = torch.aten.neg_ %[[IF_2]]
// CHECK: %[[CMPI_2:.+]] = arith.cmpi eq, %[[IF]]#1, %{{.+}}
// CHECK: scf.if %[[CMPI_2]] {
// CHECK: %[[SELECT_5:.+]] = torch.aten.select.int %[[ARG0]], %int0{{(_[0-9]+)?}}, %int0{{(_[0-9]+)?}}
// CHECK: %[[COPY:.+]] = torch.aten.copy_ %[[SELECT_5]], %[[IF_2]], %false
// CHECK: } else {
// CHECK: %[[SELECT_6:.+]] = torch.aten.select.int %[[ARG1]], %int0{{(_[0-9]+)?}}, %int1{{(_[0-9]+)?}}
// CHECK: %[[COPY_2:.+]] = torch.aten.copy_ %[[SELECT_6]], %[[IF_2]], %false
func.func @view_chosen_by_branch(%x: !torch.tensor<[4,3],f32>, %y: !torch.tensor<[4,3],f32>, %c: i1) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %v = scf.if %c -> (!torch.tensor<[3],f32>) {
    %s = torch.aten.select.int %x, %int0, %int0 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
    scf.yield %s : !torch.tensor<[3],f32>
  } else {
    %s = torch.aten.select.int %y, %int0, %int1 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
    scf.yield %s : !torch.tensor<[3],f32>
  }
  %w = torch.aten.neg_ %v : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  return
}

// Without a write a snapshot is enough: nothing changes.
// CHECK-LABEL: func.func @chosen_tensor_is_only_read(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.tensor<[3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.tensor<[3],f32>
// CHECK-SAME: %[[ARG2:[a-z0-9]+]]: i1
// CHECK-NOT: arith.constant
// CHECK: %[[IF:.+]] = scf.if %[[ARG2]] -> (!torch.tensor<[3],f32>) {
// CHECK: scf.yield %[[ARG0]] : !torch.tensor<[3],f32>
// CHECK: } else {
// CHECK: scf.yield %[[ARG1]] : !torch.tensor<[3],f32>
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[IF]]
// CHECK-NOT: arith.constant
func.func @chosen_tensor_is_only_read(%x: !torch.tensor<[3],f32>, %y: !torch.tensor<[3],f32>, %c: i1) -> !torch.tensor<[3],f32> {
  %v = scf.if %c -> (!torch.tensor<[3],f32>) {
    scf.yield %x : !torch.tensor<[3],f32>
  } else {
    scf.yield %y : !torch.tensor<[3],f32>
  }
  %w = torch.aten.neg %v : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  return %w : !torch.tensor<[3],f32>
}

// New tensors that nobody else names: a snapshot too.
// CHECK-LABEL: func.func @chosen_tensor_is_new(
// CHECK-SAME: %{{[a-z0-9]+}}: !torch.tensor<[3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i1
// CHECK-NOT: arith.constant
// CHECK: %[[IF:.+]] = scf.if %[[ARG1]] -> (!torch.tensor<[3],f32>) {
// CHECK: scf.yield %{{.+}} : !torch.tensor<[3],f32>
// CHECK: } else {
// CHECK: scf.yield %{{.+}} : !torch.tensor<[3],f32>
// CHECK: %[[NEG:.+]] = torch.aten.neg_ %[[IF]]
// CHECK-NOT: arith.constant
func.func @chosen_tensor_is_new(%x: !torch.tensor<[3],f32>, %c: i1) -> !torch.tensor<[3],f32> {
  %v = scf.if %c -> (!torch.tensor<[3],f32>) {
    %a = torch.aten.abs %x : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
    scf.yield %a : !torch.tensor<[3],f32>
  } else {
    %b = torch.aten.relu %x : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
    scf.yield %b : !torch.tensor<[3],f32>
  }
  %w = torch.aten.neg_ %v : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  return %v : !torch.tensor<[3],f32>
}

// A view that the loop carries and replaces (row = a[i]): its index is carried.
// CHECK-LABEL: func.func @loop_replaces_view(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.tensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: index
// CHECK: %[[SELECT:.+]] = torch.aten.select.int %[[ARG0]], %int0, %int0
// CHECK: %[[CLONE:.+]] = torch.aten.clone %[[SELECT]], %none
// CHECK: %[[FOR:.+]]:2 = scf.for %[[IV:.+]] = %{{.+}} to %[[ARG1]] step %{{.+}} iter_args(%[[CARRIED:.+]] = %[[CLONE]], %[[CARRIED_2:.+]] = %{{.+}}) -> (!torch.tensor<[3],f32>, i64) {
// CHECK: %[[FROM_I64:.+]] = torch_c.from_i64 %[[CARRIED_2]]
// CHECK: %[[SELECT_2:.+]] = torch.aten.select.int %[[ARG0]], %int0{{(_[0-9]+)?}}, %[[FROM_I64]]
// CHECK: %[[CLONE_2:.+]] = torch.aten.clone %[[SELECT_2]], %none{{(_[0-9]+)?}}
// CHECK: %[[NEG:.+]] = torch.aten.neg_ %[[CLONE_2]]
// CHECK: %[[FROM_I64_2:.+]] = torch_c.from_i64 %[[CARRIED_2]]
// CHECK: %[[SELECT_3:.+]] = torch.aten.select.int %[[ARG0]], %int0{{(_[0-9]+)?}}, %[[FROM_I64_2]]
// CHECK: %[[COPY:.+]] = torch.aten.copy_ %[[SELECT_3]], %[[CLONE_2]], %false
// CHECK: %[[INDEX_CAST:.+]] = arith.index_cast %[[IV]]
// CHECK: %[[FROM_I64_3:.+]] = torch_c.from_i64 %[[INDEX_CAST]]
// CHECK: %[[SELECT_4:.+]] = torch.aten.select.int %[[ARG0]], %int0, %[[FROM_I64_3]]
// CHECK: %[[CLONE_3:.+]] = torch.aten.clone %[[SELECT_4]], %none{{(_[0-9]+)?}}
// CHECK: scf.yield %[[CLONE_3]], %[[INDEX_CAST]] : !torch.tensor<[3],f32>, i64
func.func @loop_replaces_view(%a: !torch.tensor<[4,3],f32>, %n: index) {
  %int0 = torch.constant.int 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = torch.aten.select.int %a, %int0, %int0 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%row = %first) -> (!torch.tensor<[3],f32>) {
    %w = torch.aten.neg_ %row : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
    %i64 = arith.index_cast %i : index to i64
    %k = torch_c.from_i64 %i64
    %next = torch.aten.select.int %a, %int0, %k : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
    scf.yield %next : !torch.tensor<[3],f32>
  }
  return
}

// The returned ambiguous alias is read by its tag, and may be one of the arguments. Used to
// crash.
// CHECK-LABEL: func.func @written_alias_is_returned(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.tensor<[3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.tensor<[3],f32>
// CHECK-SAME: tssa.may_alias = [0, 1]
// CHECK: %[[NEG:.+]] = torch.aten.neg_ %{{.+}}
// CHECK: %[[COPY:.+]] = torch.aten.copy_ %[[ARG0]], %{{.+}}, %false
// CHECK: %[[COPY_2:.+]] = torch.aten.copy_ %[[ARG1]], %{{.+}}, %false
// CHECK: return %{{.+}}
func.func @written_alias_is_returned(%x: !torch.tensor<[3],f32>, %y: !torch.tensor<[3],f32>, %c: i1) -> !torch.tensor<[3],f32> {
  %v = scf.if %c -> (!torch.tensor<[3],f32>) {
    scf.yield %x : !torch.tensor<[3],f32>
  } else {
    scf.yield %y : !torch.tensor<[3],f32>
  }
  %w = torch.aten.neg_ %v : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  return %v : !torch.tensor<[3],f32>
}
