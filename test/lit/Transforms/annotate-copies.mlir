// The versions that have to be copied, each with who still needs it. What is
// not annotated is updated in place.
// RUN: ssa-opt --tssa-annotate-copies %s --split-input-file | FileCheck %s

// The old version is read before the update only.
// CHECK-LABEL: func.func @read_before(
// CHECK-NOT: tssa.copies
func.func @read_before(%x: !torch.vtensor<[4,3],f32>, %row: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>) {
  %int0 = torch.constant.int 0
  %b = torch.aten.neg %x : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[4,3],f32>
  %read = torch.aten.tanh %b : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[4,3],f32>
  %b1 = tssa.assign "torch.aten.select.int" %b, %row[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
  return %read, %b1 : !torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>
}

// -----

// It is read after it. The reader's line is named.
// CHECK-LABEL: func.func @read_after(
// CHECK: tssa.assign {{.*}}tssa.copies = [{operand = 0 : i64, reason = "it is read later (program.py:7)"}]
// CHECK: torch.aten.tanh
// CHECK-NOT: tssa.copies
func.func @read_after(%x: !torch.vtensor<[4,3],f32>, %row: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>) {
  %int0 = torch.constant.int 0
  %b = torch.aten.neg %x : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[4,3],f32>
  %b1 = tssa.assign "torch.aten.select.int" %b, %row[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
  %read = torch.aten.tanh %b : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[4,3],f32> loc("program.py":7:3)
  return %read, %b1 : !torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>
}

// -----

// What a view showed before the update is a value of its own.
// CHECK-LABEL: func.func @part_read_before(
// CHECK-NOT: tssa.copies
func.func @part_read_before(%x: !torch.vtensor<[4,3],f32>, %row: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[3],f32>, !torch.vtensor<[4,3],f32>) {
  %int0 = torch.constant.int 0
  %b = torch.aten.neg %x : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[4,3],f32>
  %part = tssa.access "torch.aten.select.int" %b[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[3],f32>
  %b1 = tssa.assign "torch.aten.select.int" %b, %row[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
  %read = torch.aten.tanh %part : !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
  return %read, %b1 : !torch.vtensor<[3],f32>, !torch.vtensor<[4,3],f32>
}

// -----

// A view of all elements needs nothing of the old version.
// CHECK-LABEL: func.func @all_elements(
// CHECK-NOT: tssa.copies
func.func @all_elements(%x: !torch.vtensor<[4,3],f32>, %t: !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[4,3],f32> {
  %x1 = tssa.assign "torch.aten.t" %x, %t : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3,4],f32>
  return %x1 : !torch.vtensor<[4,3],f32>
}

// -----

// The caller keeps what it does not know to be written. A consumed argument
// has a writeback.
// CHECK-LABEL: func.func @arguments(
// CHECK: tssa.assign {{.*}} %arg0{{.*}}tssa.copies = [{operand = 0 : i64, reason = "the caller keeps 'kept'"}]
// CHECK-NOT: tssa.copies
func.func @arguments(%kept: !torch.vtensor<[4,3],f32> {tssa.name = "kept"}, %written: !torch.vtensor<[4,3],f32> {tssa.name = "written"}, %row: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32> {tssa.writeback = 1 : i64}) {
  %int0 = torch.constant.int 0
  %k1 = tssa.assign "torch.aten.select.int" %kept, %row[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
  %w1 = tssa.assign "torch.aten.select.int" %written, %row[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
  return %k1, %w1 : !torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>
}

// -----

// Each branch makes the successor: they exclude each other.
// CHECK-LABEL: func.func @both_branches(
// CHECK-NOT: tssa.copies
func.func @both_branches(%x: !torch.vtensor<[4,3],f32>, %row: !torch.vtensor<[3],f32>, %c: i1) -> !torch.vtensor<[4,3],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %b = torch.aten.neg %x : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[4,3],f32>
  %r = scf.if %c -> (!torch.vtensor<[4,3],f32>) {
    %b1 = tssa.assign "torch.aten.select.int" %b, %row[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
    scf.yield %b1 : !torch.vtensor<[4,3],f32>
  } else {
    %b2 = tssa.assign "torch.aten.select.int" %b, %row[%int0, %int1 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
    scf.yield %b2 : !torch.vtensor<[4,3],f32>
  }
  return %r : !torch.vtensor<[4,3],f32>
}

// -----

// The other branch forwards the caller's tensor: only there it is copied for
// what follows, and at the update here.
// CHECK-LABEL: func.func @one_branch(
// CHECK: scf.if
// CHECK: tssa.assign {{.*}}reason = "the caller keeps 'x'"
// CHECK: scf.yield %{{[0-9]+}} :
// CHECK: else
// CHECK: scf.yield {tssa.copies = [{operand = 0 : i64, reason = "the caller keeps 'x'"}]} %arg0
// CHECK-NOT: tssa.copies
func.func @one_branch(%x: !torch.vtensor<[4,3],f32> {tssa.name = "x"}, %row: !torch.vtensor<[3],f32>, %c: i1) -> !torch.vtensor<[4,3],f32> {
  %int0 = torch.constant.int 0
  %r = scf.if %c -> (!torch.vtensor<[4,3],f32>) {
    %b1 = tssa.assign "torch.aten.select.int" %x, %row[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
    scf.yield %b1 : !torch.vtensor<[4,3],f32>
  } else {
    scf.yield %x : !torch.vtensor<[4,3],f32>
  }
  return %r : !torch.vtensor<[4,3],f32>
}

// -----

// One copy where the loop starts; in the loop each iteration reuses the buffer.
// CHECK-LABEL: func.func @carried(
// CHECK: scf.for
// CHECK-NOT: tssa.copies
// CHECK: scf.yield
// CHECK: } {tssa.copies = [{operand = 3 : i64, reason = "the caller keeps 'x'"}]}
func.func @carried(%x: !torch.vtensor<[4,3],f32> {tssa.name = "x"}, %row: !torch.vtensor<[3],f32>, %n: index) -> !torch.vtensor<[4,3],f32> {
  %int0 = torch.constant.int 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%k = %x) -> (!torch.vtensor<[4,3],f32>) {
    %k1 = tssa.assign "torch.aten.select.int" %k, %row[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
    scf.yield %k1 : !torch.vtensor<[4,3],f32>
  }
  return %r : !torch.vtensor<[4,3],f32>
}

// -----

// The loop keeps the version before: a copy in each iteration. Its reader is
// found behind the back edge.
// CHECK-LABEL: func.func @previous_kept(
// CHECK: tssa.assign {{.*}}reason = "it is read later (program.py:9)"
// CHECK: scf.yield
func.func @previous_kept(%a: !torch.vtensor<[4,3],f32>, %row: !torch.vtensor<[3],f32>, %n: index) -> !torch.vtensor<[4,3],f32> {
  %int0 = torch.constant.int 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = torch.aten.neg %a : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[4,3],f32>
  %y = torch.aten.tanh %a : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[4,3],f32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%k = %x, %previous = %y) -> (!torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>) {
    %read = tssa.access "torch.aten.select.int" %previous[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[3],f32> loc("program.py":9:3)
    %k1 = tssa.assign "torch.aten.select.int" %k, %read[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
    scf.yield %k1, %k : !torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>
  }
  return %r#0 : !torch.vtensor<[4,3],f32>
}

// -----

// Two tensors that change names: each reuses the other's buffer.
// CHECK-LABEL: func.func @swapped(
// CHECK-NOT: tssa.copies
func.func @swapped(%a: !torch.vtensor<[4,3],f32>, %row: !torch.vtensor<[3],f32>, %n: index) -> (!torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>) {
  %int0 = torch.constant.int 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = torch.aten.neg %a : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[4,3],f32>
  %y = torch.aten.tanh %a : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[4,3],f32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x, %q = %y) -> (!torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>) {
    %p1 = tssa.assign "torch.aten.select.int" %p, %row[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
    scf.yield %q, %p1 : !torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>
  }
  return %r#0, %r#1 : !torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>
}

// -----

// One version starts two carried tensors, both updated: one of them is copied.
// CHECK-LABEL: func.func @two_names(
// CHECK: } {tssa.copies = [{operand = 3 : i64, reason = "it is forwarded twice
// CHECK-NOT: tssa.copies
func.func @two_names(%a: !torch.vtensor<[4,3],f32>, %row: !torch.vtensor<[3],f32>, %n: index) -> (!torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = torch.aten.neg %a : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[4,3],f32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x, %q = %x) -> (!torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>) {
    %p1 = tssa.assign "torch.aten.select.int" %p, %row[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
    %q1 = tssa.assign "torch.aten.select.int" %q, %row[%int0, %int1 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
    scf.yield %p1, %q1 : !torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>
  }
  return %r#0, %r#1 : !torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>
}

// -----

// A version from outside of the loop, updated anew in each iteration. The
// carried sum is read, not updated: what it starts from moves.
// CHECK-LABEL: func.func @again(
// CHECK: tssa.assign {{.*}}reason = "the next iteration needs it again
// CHECK-NOT: tssa.copies
func.func @again(%a: !torch.vtensor<[4,3],f32>, %row: !torch.vtensor<[3],f32>, %n: index) -> !torch.vtensor<[4,3],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = torch.aten.neg %a : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[4,3],f32>
  %y = torch.aten.tanh %a : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[4,3],f32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %y) -> (!torch.vtensor<[4,3],f32>) {
    %x1 = tssa.assign "torch.aten.select.int" %x, %row[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
    %next = torch.aten.add.Tensor %sum, %x1, %int1 : !torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>, !torch.int -> !torch.vtensor<[4,3],f32>
    scf.yield %next : !torch.vtensor<[4,3],f32>
  }
  return %r : !torch.vtensor<[4,3],f32>
}

// -----

// A tensor made from none is made once for each that needs it.
// CHECK-LABEL: func.func @created(
// CHECK-NOT: tssa.copies
func.func @created(%row: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>) {
  %int0 = torch.constant.int 0
  %int3 = torch.constant.int 3
  %none = torch.constant.none
  %size = torch.prim.ListConstruct %int3 : (!torch.int) -> !torch.list<int>
  %x = torch.aten.zeros %size, %none, %none, %none, %none : !torch.list<int>, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[3],f32>
  %part = tssa.access "torch.aten.select.int" %row[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[3],f32> -> !torch.vtensor<[],f32>
  %x1 = tssa.assign "torch.aten.select.int" %x, %part[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[3],f32>, !torch.vtensor<[],f32>
  return %x, %x1 : !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>
}

// -----

// An op that writes where an index says reuses the buffer that it is given.
// CHECK-LABEL: func.func @index_put(
// CHECK: torch.aten.index_put {{.*}}reason = "the caller keeps 'x'"
func.func @index_put(%x: !torch.vtensor<[4,3],f32> {tssa.name = "x"}, %row: !torch.vtensor<[1,3],f32>, %i: !torch.vtensor<[1],si64>) -> !torch.vtensor<[4,3],f32> {
  %false = torch.constant.bool false
  %list = torch.prim.ListConstruct %i : (!torch.vtensor<[1],si64>) -> !torch.list<vtensor<[1],si64>>
  %x1 = torch.aten.index_put %x, %list, %row, %false : !torch.vtensor<[4,3],f32>, !torch.list<vtensor<[1],si64>>, !torch.vtensor<[1,3],f32>, !torch.bool -> !torch.vtensor<[4,3],f32>
  return %x1 : !torch.vtensor<[4,3],f32>
}

// -----

// A store through a view of a view is one update, of the base: the row is no
// version of its own, though its old contents are read afterwards.
// CHECK-LABEL: func.func @nested(
// CHECK: tssa.assign {{.*}} %{{[0-9]+}}, %arg1
// CHECK-NOT: tssa.copies
// CHECK: tssa.assign {{.*}} %arg0, {{.*}}tssa.copies = [{operand = 0 : i64, reason = "the caller keeps 'x'"}]
// CHECK-NOT: tssa.copies
func.func @nested(%x: !torch.vtensor<[4,3],f32> {tssa.name = "x"}, %v: !torch.vtensor<[],f32>) -> (!torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %row = tssa.access "torch.aten.select.int" %x[%int0, %int1 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[3],f32>
  %new = tssa.assign "torch.aten.select.int" %row, %v[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[3],f32>, !torch.vtensor<[],f32>
  %x1 = tssa.assign "torch.aten.select.int" %x, %new[%int0, %int1 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
  %read = torch.aten.tanh %row : !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
  return %x1, %read : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
}

// -----

// So is one through a transposed tensor, which keeps the other columns.
// CHECK-LABEL: func.func @transposed(
// CHECK: tssa.assign "torch.aten.select.int"
// CHECK-NOT: tssa.copies
// CHECK: tssa.assign "torch.aten.t" %arg0, {{.*}}reason = "the caller keeps 'x'"
func.func @transposed(%x: !torch.vtensor<[4,3],f32> {tssa.name = "x"}, %v: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4,3],f32> {
  %int0 = torch.constant.int 0
  %t = tssa.access "torch.aten.t" %x : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[3,4],f32>
  %new = tssa.assign "torch.aten.select.int" %t, %v[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[3,4],f32>, !torch.vtensor<[4],f32>
  %x1 = tssa.assign "torch.aten.t" %x, %new : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3,4],f32>
  return %x1 : !torch.vtensor<[4,3],f32>
}

// -----

// What another shape of a tensor is, it is: the update of the one takes the
// memory of the other.
// CHECK-LABEL: func.func @reshaped(
// CHECK: tssa.assign "torch.aten.select.int" {{.*}}reason = "the caller keeps 'x'"
// CHECK-NOT: tssa.copies
func.func @reshaped(%x: !torch.vtensor<[4,3],f32> {tssa.name = "x"}, %v: !torch.vtensor<[],f32>) -> !torch.vtensor<[4,3],f32> {
  %int0 = torch.constant.int 0
  %int-1 = torch.constant.int -1
  %sizes = torch.prim.ListConstruct %int-1 : (!torch.int) -> !torch.list<int>
  %flat = tssa.access "torch.aten.view" %x[%sizes : !torch.list<int>] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[12],f32>
  %new = tssa.assign "torch.aten.select.int" %flat, %v[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[12],f32>, !torch.vtensor<[],f32>
  %x1 = tssa.assign "torch.aten.view" %x, %new[%sizes : !torch.list<int>] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[12],f32>
  return %x1 : !torch.vtensor<[4,3],f32>
}

// -----

// And a read of the one is a read of the other.
// CHECK-LABEL: func.func @reshaped_and_read(
// CHECK: tssa.assign {{.*}}reason = "it is read later (program.py:7)"
func.func @reshaped_and_read(%a: !torch.vtensor<[4,3],f32>, %row: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[4,3],f32>, !torch.vtensor<[12],f32>) {
  %int0 = torch.constant.int 0
  %int-1 = torch.constant.int -1
  %sizes = torch.prim.ListConstruct %int-1 : (!torch.int) -> !torch.list<int>
  %x = torch.aten.neg %a : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[4,3],f32>
  %flat = tssa.access "torch.aten.view" %x[%sizes : !torch.list<int>] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[12],f32>
  %x1 = tssa.assign "torch.aten.select.int" %x, %row[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
  %read = torch.aten.tanh %flat : !torch.vtensor<[12],f32> -> !torch.vtensor<[12],f32> loc("program.py":7:3)
  return %x1, %read : !torch.vtensor<[4,3],f32>, !torch.vtensor<[12],f32>
}

// -----

// A row that is changed and not stored back is a tensor of its own.
// CHECK-LABEL: func.func @row_alone(
// CHECK: tssa.assign {{.*}}reason = "it is read later
func.func @row_alone(%x: !torch.vtensor<[4,3],f32>, %v: !torch.vtensor<[],f32>) -> (!torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>) {
  %int0 = torch.constant.int 0
  %row = tssa.access "torch.aten.select.int" %x[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[3],f32>
  %new = tssa.assign "torch.aten.select.int" %row, %v[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[3],f32>, !torch.vtensor<[],f32>
  %read = torch.aten.tanh %row : !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
  return %new, %read : !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>
}

// -----

// What the other branch forwards is no other name of what this one updates:
// the result of both is read, and not the version before.
// CHECK-LABEL: func.func @the_other_branch(
// CHECK-NOT: tssa.copies
func.func @the_other_branch(%a: !torch.vtensor<[4,3],f32>, %row: !torch.vtensor<[3],f32>, %c: i1) -> !torch.vtensor<[4,3],f32> {
  %int0 = torch.constant.int 0
  %x = torch.aten.neg %a : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[4,3],f32>
  %r = scf.if %c -> (!torch.vtensor<[4,3],f32>) {
    %x1 = tssa.assign "torch.aten.select.int" %x, %row[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
    scf.yield %x1 : !torch.vtensor<[4,3],f32>
  } else {
    scf.yield %x : !torch.vtensor<[4,3],f32>
  }
  %s = torch.aten.tanh %r : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[4,3],f32>
  return %s : !torch.vtensor<[4,3],f32>
}
