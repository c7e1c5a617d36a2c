// TorchScript's control flow and function boundary.
// RUN: ssa-opt --torch-to-scf %s --split-input-file | FileCheck %s

// Tensors pass through as they are, scalars become builtin.
// CHECK-LABEL: func.func @if_with_results(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: i1
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i64
// CHECK-SAME: %[[ARG2:[a-z0-9]+]]: !torch.tensor<[3],f32>
// CHECK-SAME: %[[ARG3:[a-z0-9]+]]: !torch.tensor<[3],f32>
// CHECK-SAME: -> (i64, !torch.tensor<[3],f32>)
// CHECK: %[[IF:.+]]:2 = scf.if %[[ARG0]] -> (i64, !torch.tensor<[3],f32>) {
// CHECK: %[[ADDI:.+]] = arith.addi %[[ARG1]], %[[ARG1]]
// CHECK: scf.yield %[[ADDI]], %[[ARG2]] : i64, !torch.tensor<[3],f32>
// CHECK: } else {
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[ARG3]]
// CHECK: scf.yield %[[ARG1]], %[[NEG]] : i64, !torch.tensor<[3],f32>
// CHECK: return %[[IF]]#0, %[[IF]]#1
func.func @if_with_results(%c: !torch.bool, %n: !torch.int, %x: !torch.tensor<[3],f32>, %y: !torch.tensor<[3],f32>) -> (!torch.int, !torch.tensor<[3],f32>) {
  %r:2 = torch.prim.If %c -> (!torch.int, !torch.tensor<[3],f32>) {
    %m = torch.aten.add.int %n, %n : !torch.int, !torch.int -> !torch.int
    torch.prim.If.yield %m, %x : !torch.int, !torch.tensor<[3],f32>
  } else {
    %k = torch.aten.neg %y : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
    torch.prim.If.yield %n, %k : !torch.int, !torch.tensor<[3],f32>
  }
  return %r#0, %r#1 : !torch.int, !torch.tensor<[3],f32>
}

// A branch for its effect: the write stays inside.
// CHECK-LABEL: func.func @if_without_results(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: i1
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.tensor<[3],f32>
// CHECK: scf.if %[[ARG0]] {
// CHECK: %[[ZERO:.+]] = torch.aten.zero_ %[[ARG1]]
func.func @if_without_results(%c: !torch.bool, %x: !torch.tensor<[3],f32>) {
  torch.prim.If %c -> () {
    %w = torch.aten.zero_ %x : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
    torch.prim.If.yield
  } else {
    torch.prim.If.yield
  }
  return
}

// Both conditions are constant true: the trip count is known when the loop starts.
// CHECK-LABEL: func.func @for_like_loop(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: i64
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.tensor<[4,3],f32>
// CHECK-SAME: %[[ARG2:[a-z0-9]+]]: f64
// CHECK-NOT: scf.while
// CHECK: %[[INDEX_CAST:.+]] = arith.index_cast %[[ARG0]]
// CHECK: %[[FOR:.+]] = scf.for %[[IV:.+]] = %{{.+}} to %[[INDEX_CAST]] step %{{.+}} iter_args(%[[CARRIED:.+]] = %[[ARG2]]) -> (f64) {
// CHECK: %[[INDEX_CAST_2:.+]] = arith.index_cast %[[IV]]
// CHECK: %[[FROM_I64:.+]] = torch_c.from_i64 %[[INDEX_CAST_2]]
// CHECK: %[[SELECT:.+]] = torch.aten.select.int %[[ARG1]], %int0, %[[FROM_I64]]
// CHECK: %[[MULF:.+]] = arith.mulf %[[CARRIED]], %[[CARRIED]]
// CHECK: scf.yield %[[MULF]] : f64
// CHECK-NOT: scf.while
// CHECK: return %[[FOR]]
func.func @for_like_loop(%n: !torch.int, %x: !torch.tensor<[4,3],f32>, %s: !torch.float) -> !torch.float {
  %true = torch.constant.bool true
  %int0 = torch.constant.int 0
  %r = torch.prim.Loop %n, %true, init(%s) {
  ^bb0(%i: !torch.int, %k: !torch.float):
    %row = torch.aten.select.int %x, %int0, %i : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
    %w = torch.aten.zero_ %row : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
    %m = torch.aten.mul.float %k, %k : !torch.float, !torch.float -> !torch.float
    torch.prim.Loop.condition %true, iter(%m : !torch.float)
  } : (!torch.int, !torch.bool, !torch.float) -> !torch.float
  return %r : !torch.float
}

// The condition changes in the loop: as a break flag does. The trip count still
// limits it, and a false first condition means no iteration.
// CHECK-LABEL: func.func @while_like_loop(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: i64
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i1
// CHECK-SAME: %[[ARG2:[a-z0-9]+]]: !torch.tensor<[4,3],f32>
// CHECK-NOT: scf.for
// CHECK: %[[WHILE:.+]] = scf.while (%[[CARRIED:.+]] = %{{.+}}, %[[CARRIED_2:.+]] = %[[ARG1]]) : (i64, i1) -> i64 {
// CHECK: %[[CMPI:.+]] = arith.cmpi slt, %[[CARRIED]], %[[ARG0]]
// CHECK: %[[ANDI:.+]] = arith.andi %[[CMPI]], %[[CARRIED_2]]
// CHECK: scf.condition(%[[ANDI]]) %[[CARRIED]] : i64
// CHECK: ^bb{{[0-9]+}}(%[[ARG:.+]]: i64):
// CHECK: %[[FROM_I64:.+]] = torch_c.from_i64 %[[ARG]]
// CHECK: %[[SELECT:.+]] = torch.aten.select.int %[[ARG2]], %int0, %[[FROM_I64]]
// CHECK: %[[CMPI_2:.+]] = arith.cmpi sle, %[[ARG]], %{{.+}}
// CHECK: %[[ADDI:.+]] = arith.addi %[[ARG]], %{{.+}}
// CHECK: scf.yield %[[ADDI]], %[[CMPI_2]] : i64, i1
// CHECK-NOT: scf.for
func.func @while_like_loop(%n: !torch.int, %go: !torch.bool, %x: !torch.tensor<[4,3],f32>) {
  %int0 = torch.constant.int 0
  torch.prim.Loop %n, %go, init() {
  ^bb0(%i: !torch.int):
    %row = torch.aten.select.int %x, %int0, %i : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
    %w = torch.aten.zero_ %row : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
    %stop = torch.aten.gt.int %i, %int0 : !torch.int, !torch.int -> !torch.bool
    %goOn = torch.aten.__not__ %stop : !torch.bool -> !torch.bool
    torch.prim.Loop.condition %goOn, iter()
  } : (!torch.int, !torch.bool) -> ()
  return
}

// The condition of the body alone is true: the first one may still be false.
// CHECK-LABEL: func.func @loop_that_may_not_start(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: i64
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i1
// CHECK-NOT: scf.for
// CHECK: %[[WHILE:.+]] = scf.while (%[[CARRIED:.+]] = %{{.+}}, %[[CARRIED_2:.+]] = %[[ARG1]]) : (i64, i1) -> i64 {
// CHECK: %[[CMPI:.+]] = arith.cmpi slt, %[[CARRIED]], %[[ARG0]]
// CHECK: %[[ANDI:.+]] = arith.andi %[[CMPI]], %[[CARRIED_2]]
// CHECK: scf.condition(%[[ANDI]]) %[[CARRIED]] : i64
// CHECK: scf.yield %[[ANDI]], %true : i64, i1
// CHECK-NOT: scf.for
func.func @loop_that_may_not_start(%n: !torch.int, %go: !torch.bool, %x: !torch.tensor<[3],f32>) {
  %true = torch.constant.bool true
  torch.prim.Loop %n, %go, init() {
  ^bb0(%i: !torch.int):
    %w = torch.aten.zero_ %x : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
    torch.prim.Loop.condition %true, iter()
  } : (!torch.int, !torch.bool) -> ()
  return
}

// Carried tensors and the break flag are forwarded in the loop's order.
// CHECK-LABEL: func.func @while_like_loop_with_carried_tensor(
// CHECK-SAME: %{{[a-z0-9]+}}: i64
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.tensor<[3],f32>
// CHECK-SAME: %[[ARG2:[a-z0-9]+]]: i1
// CHECK: %[[WHILE:.+]]:2 = scf.while (%[[CARRIED:.+]] = %[[ARG1]], %[[CARRIED_2:.+]] = %{{.+}}, %[[CARRIED_3:.+]] = %true) : (!torch.tensor<[3],f32>, i64, i1) -> (!torch.tensor<[3],f32>, i64) {
// CHECK: scf.condition(%{{.+}}) %[[CARRIED]], %[[CARRIED_2]] : !torch.tensor<[3],f32>, i64
// CHECK: ^bb{{[0-9]+}}(%[[ARG:.+]]: !torch.tensor<[3],f32>, %[[ARG_2:.+]]: i64):
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[ARG]]
// CHECK: scf.yield %[[NEG]], %{{.+}}, %[[ARG2]] : !torch.tensor<[3],f32>, i64, i1
func.func @while_like_loop_with_carried_tensor(%n: !torch.int, %x: !torch.tensor<[3],f32>, %c: !torch.bool) -> !torch.tensor<[3],f32> {
  %true = torch.constant.bool true
  %r = torch.prim.Loop %n, %true, init(%x) {
  ^bb0(%i: !torch.int, %k: !torch.tensor<[3],f32>):
    %m = torch.aten.neg %k : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
    torch.prim.Loop.condition %c, iter(%m : !torch.tensor<[3],f32>)
  } : (!torch.int, !torch.bool, !torch.tensor<[3],f32>) -> !torch.tensor<[3],f32>
  return %r : !torch.tensor<[3],f32>
}

// A branch in a loop in a branch.
// CHECK-LABEL: func.func @nested(
// CHECK-SAME: %{{[a-z0-9]+}}: i64
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i1
// CHECK-SAME: %[[ARG2:[a-z0-9]+]]: !torch.tensor<[3],f32>
// CHECK-NOT: torch.prim
// CHECK: scf.if %[[ARG1]] {
// CHECK: scf.for %[[IV:.+]] = %{{.+}} to %{{.+}} step %{{.+}} {
// CHECK: scf.if %{{.+}} {
// CHECK: %[[ZERO:.+]] = torch.aten.zero_ %[[ARG2]]
// CHECK-NOT: torch.prim
func.func @nested(%n: !torch.int, %c: !torch.bool, %x: !torch.tensor<[3],f32>) {
  %true = torch.constant.bool true
  torch.prim.If %c -> () {
    torch.prim.Loop %n, %true, init() {
    ^bb0(%i: !torch.int):
      %p = torch.aten.lt.int %i, %n : !torch.int, !torch.int -> !torch.bool
      torch.prim.If %p -> () {
        %w = torch.aten.zero_ %x : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
        torch.prim.If.yield
      } else {
        torch.prim.If.yield
      }
      torch.prim.Loop.condition %true, iter()
    } : (!torch.int, !torch.bool) -> ()
    torch.prim.If.yield
  } else {
    torch.prim.If.yield
  }
  return
}

// The message gets the line of the last caller.
// CHECK-LABEL: func.func @assert(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: i1
// CHECK: cf.assert %[[ARG0]], "IndexError: out of range [model.py:12]"
func.func @assert(%c: !torch.bool) {
  torch.runtime.assert %c, "IndexError: out of range" loc(callsite("lib.py":3:1 at "model.py":12:5))
  return
}

// Attributes of arguments and results stay.
// CHECK-LABEL: func.func @boundary(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: i64
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: f64
// CHECK-SAME: %[[ARG2:[a-z0-9]+]]: i1
// CHECK-SAME: -> (f64 {tssa.alias_of = 1 : i64}, i1, i64)
// CHECK: return %[[ARG1]], %[[ARG2]], %[[ARG0]]
func.func @boundary(%n: !torch.int {tssa.name = "n"}, %s: !torch.float, %b: !torch.bool) -> (!torch.float {tssa.alias_of = 1 : i64}, !torch.bool, !torch.int) {
  return %s, %b, %n : !torch.float, !torch.bool, !torch.int
}

// A call changes together with its callee.
// CHECK-LABEL: func.func @call(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: i64
// CHECK: %[[CALL:.+]] = call @callee(%[[ARG0]])
// CHECK: return %[[CALL]]
func.func @call(%n: !torch.int) -> !torch.float {
  %r = call @callee(%n) : (!torch.int) -> !torch.float
  return %r : !torch.float
}
func.func private @callee(%n: !torch.int) -> !torch.float {
  %r = torch.constant.float 1.0
  return %r : !torch.float
}

// A declaration may be anything: its calls stay.
// CHECK-LABEL: func.func @call_of_declaration(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: i64
// CHECK: %[[FROM_I64:.+]] = torch_c.from_i64 %[[ARG0]]
// CHECK: %[[CALL:.+]] = call @declared(%[[FROM_I64]])
// CHECK: %[[TO_I64:.+]] = torch_c.to_i64 %[[CALL]]
// CHECK: return %[[TO_I64]]
func.func @call_of_declaration(%n: !torch.int) -> !torch.int {
  %r = call @declared(%n) : (!torch.int) -> !torch.int
  return %r : !torch.int
}
func.func private @declared(!torch.int) -> !torch.int
