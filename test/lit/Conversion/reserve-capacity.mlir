// A tensor that each iteration appends to is carried in a buffer with room for all iterations.
// RUN: ssa-opt --reserve-capacity --canonicalize --cse %s --split-input-file | FileCheck %s

// The iterations of an scf.for are counted: two elements for each of five.
// CHECK-LABEL: func.func @appended(
// CHECK-SAME: %[[Y:[a-z0-9]+]]: !torch.vtensor<[1,3],f32>, %[[X:[a-z0-9]+]]: !torch.vtensor<[1,2],f32>
// CHECK: %[[EMPTY:.+]] = tensor.empty() : tensor<1x13xf32>
// CHECK: %[[WHOLE:.+]] = torch_c.to_builtin_tensor %[[Y]]
// CHECK: %[[FIRST:.+]] = tensor.insert_slice %[[WHOLE]] into %[[EMPTY]][0, 0] [1, 3] [1, 1]
// CHECK: %[[R:.+]]:2 = scf.for {{.*}} iter_args(%[[BUFFER:.+]] = %[[FIRST]], %[[LENGTH:.+]] = %c3_i64) -> (tensor<1x13xf32>, i64)
// CHECK-NOT: torch.aten.cat
// CHECK: %[[END:.+]] = arith.addi %[[LENGTH]], %c2_i64
// CHECK: %[[PART:.+]] = torch_c.to_builtin_tensor %[[X]]
// CHECK: %[[AT:.+]] = arith.index_cast %[[LENGTH]]
// CHECK: %[[PUT:.+]] = tensor.insert_slice %[[PART]] into %[[BUFFER]][0, %[[AT]]] [1, 2] [1, 1]
// CHECK: scf.yield %[[PUT]], %[[END]]
// CHECK: tensor.extract_slice %[[R]]#0[0, 0] [1, %{{.+}}] [1, 1] : tensor<1x13xf32> to tensor<1x?xf32>
func.func @appended(%y0: !torch.vtensor<[1,3],f32>, %x: !torch.vtensor<[1,2],f32>) -> !torch.vtensor<[1,?],f32> {
  %int-1 = torch.constant.int -1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %first = torch.tensor_static_info_cast %y0 : !torch.vtensor<[1,3],f32> to !torch.vtensor<[1,?],f32>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%y = %first) -> (!torch.vtensor<[1,?],f32>) {
    %list = torch.prim.ListConstruct %y, %x : (!torch.vtensor<[1,?],f32>, !torch.vtensor<[1,2],f32>) -> !torch.list<vtensor>
    %longer = torch.aten.cat %list, %int-1 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[1,?],f32>
    scf.yield %longer : !torch.vtensor<[1,?],f32>
  }
  return %r : !torch.vtensor<[1,?],f32>
}

// -----

// What reads the tensor reads a slice. A dynamic number of iterations is checked, and so is the size of the argument.
// CHECK-LABEL: func.func @read(
// CHECK: cf.assert %{{.+}}, "unsupported: a loop that makes a tensor longer more than 65,536 times
// CHECK: tensor.dim %{{.+}}, %c0
// CHECK: tensor.empty(%{{.+}}) : tensor<?xf32>
// CHECK: scf.for {{.*}} iter_args(%[[BUFFER:.+]] = %{{.+}}, %[[LENGTH:.+]] = %{{.+}}) -> (tensor<?xf32>, i64)
// CHECK: %[[SIZE:.+]] = arith.index_cast %[[LENGTH]]
// CHECK: %[[SLICE:.+]] = tensor.extract_slice %[[BUFFER]][0] [%[[SIZE]]] [1]
// CHECK: %[[SEEN:.+]] = torch_c.from_builtin_tensor %[[SLICE]]
// CHECK: torch.aten.sum.dim_IntList %[[SEEN]]
func.func @read(%y0: !torch.vtensor<[?],f32>, %n: index) -> !torch.vtensor<[?],f32> {
  %int0 = torch.constant.int 0
  %true = torch.constant.bool true
  %none = torch.constant.none
  %dims = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %y0) -> (!torch.vtensor<[?],f32>) {
    %sum = torch.aten.sum.dim_IntList %y, %dims, %true, %none : !torch.vtensor<[?],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1],f32>
    %list = torch.prim.ListConstruct %y, %sum : (!torch.vtensor<[?],f32>, !torch.vtensor<[1],f32>) -> !torch.list<vtensor>
    %longer = torch.aten.cat %list, %int0 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[?],f32>
    scf.yield %longer : !torch.vtensor<[?],f32>
  }
  return %r : !torch.vtensor<[?],f32>
}

// -----

// A loop with a `break` goes on while its counter is less than a number from outside, and a flag is set: both are in
// the flag that it carries. The branches may append different parts, or nothing.
// CHECK-LABEL: func.func @branches(
// CHECK: scf.while (%{{.+}} = %{{.+}}, %{{.+}} = %c0_i64, %{{.+}} = %true, %{{.+}} = %c1_i64) : (tensor<?xf32>, i64, i1, i64) -> (tensor<?xf32>, i64, i64)
// CHECK: scf.condition(%{{.+}}) %{{.+}}, %{{.+}}, %{{.+}} : tensor<?xf32>, i64, i64
// CHECK: %[[IF:.+]]:2 = scf.if %{{.+}} -> (tensor<?xf32>, i64)
// CHECK: cf.assert
// CHECK: tensor.insert_slice {{.*}} [2] [1]
// CHECK: } else {
// CHECK-NOT: insert_slice
// CHECK: scf.yield %{{.+}}, %{{.+}} : tensor<?xf32>, i64
// CHECK: scf.yield %[[IF]]#0, %{{.+}}, %{{.+}}, %[[IF]]#1 : tensor<?xf32>, i64, i1, i64
func.func @branches(%y0: !torch.vtensor<[1],f32>, %x: !torch.vtensor<[2],f32>, %n: i64, %c: i1) -> !torch.vtensor<[?],f32> {
  %int0 = torch.constant.int 0
  %true = arith.constant true
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %first = torch.tensor_static_info_cast %y0 : !torch.vtensor<[1],f32> to !torch.vtensor<[?],f32>
  %r:2 = scf.while (%y = %first, %i = %zero, %again = %true) : (!torch.vtensor<[?],f32>, i64, i1) -> (!torch.vtensor<[?],f32>, i64) {
    scf.condition(%again) %y, %i : !torch.vtensor<[?],f32>, i64
  } do {
  ^bb0(%y: !torch.vtensor<[?],f32>, %i: i64):
    %next = scf.if %c -> (!torch.vtensor<[?],f32>) {
      %list = torch.prim.ListConstruct %y, %x : (!torch.vtensor<[?],f32>, !torch.vtensor<[2],f32>) -> !torch.list<vtensor>
      %longer = torch.aten.cat %list, %int0 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[?],f32>
      scf.yield %longer : !torch.vtensor<[?],f32>
    } else {
      scf.yield %y : !torch.vtensor<[?],f32>
    }
    %j = arith.addi %i, %one : i64
    %less = arith.cmpi slt, %j, %n : i64
    %flag = arith.andi %less, %c : i1
    scf.yield %next, %j, %flag : !torch.vtensor<[?],f32>, i64, i1
  }
  return %r#0 : !torch.vtensor<[?],f32>
}

// -----

// A counter that shrinks, by 1 or by 2, as long as it is not less than a number from outside.
// CHECK-LABEL: func.func @down(
// CHECK: %[[AHEAD:.+]] = arith.cmpi sge, %{{.+}}, %{{.+}} : i64
// CHECK: %[[DISTANCE:.+]] = arith.subi
// CHECK: %[[MOST:.+]] = arith.minui %[[DISTANCE]], %c65536_i64
// CHECK: arith.addi %[[MOST]], %c1_i64
// CHECK-NOT: torch.aten.cat
func.func @down(%y0: !torch.vtensor<[1],f32>, %x: !torch.vtensor<[1],f32>, %from: i64, %to: i64, %c: i1) -> !torch.vtensor<[?],f32> {
  %int0 = torch.constant.int 0
  %one = arith.constant 1 : i64
  %less2 = arith.constant -2 : i64
  %first = torch.tensor_static_info_cast %y0 : !torch.vtensor<[1],f32> to !torch.vtensor<[?],f32>
  %r:2 = scf.while (%y = %first, %i = %from) : (!torch.vtensor<[?],f32>, i64) -> (!torch.vtensor<[?],f32>, i64) {
    %again = arith.cmpi sge, %i, %to : i64
    scf.condition(%again) %y, %i : !torch.vtensor<[?],f32>, i64
  } do {
  ^bb0(%y: !torch.vtensor<[?],f32>, %i: i64):
    %list = torch.prim.ListConstruct %y, %x : (!torch.vtensor<[?],f32>, !torch.vtensor<[1],f32>) -> !torch.list<vtensor>
    %longer = torch.aten.cat %list, %int0 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[?],f32>
    %j = scf.if %c -> (i64) {
      %a = arith.subi %i, %one : i64
      scf.yield %a : i64
    } else {
      %b = arith.addi %i, %less2 : i64
      scf.yield %b : i64
    }
    scf.yield %longer, %j : !torch.vtensor<[?],f32>, i64
  }
  return %r#0 : !torch.vtensor<[?],f32>
}

// -----

// Nothing bounds the iterations: the loop stays what it is.
// CHECK-LABEL: func.func @unbounded(
// CHECK: torch.aten.cat
func.func @unbounded(%y0: !torch.vtensor<[?],f32>, %x: !torch.vtensor<[1],f32>, %c: i1) -> !torch.vtensor<[?],f32> {
  %int0 = torch.constant.int 0
  %r = scf.while (%y = %y0) : (!torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32> {
    scf.condition(%c) %y : !torch.vtensor<[?],f32>
  } do {
  ^bb0(%y: !torch.vtensor<[?],f32>):
    %list = torch.prim.ListConstruct %y, %x : (!torch.vtensor<[?],f32>, !torch.vtensor<[1],f32>) -> !torch.list<vtensor>
    %longer = torch.aten.cat %list, %int0 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[?],f32>
    scf.yield %longer : !torch.vtensor<[?],f32>
  }
  return %r : !torch.vtensor<[?],f32>
}

// -----

// A part of unknown size, or one in front of the tensor, is not appended.
// CHECK-LABEL: func.func @other_parts(
// CHECK-COUNT-2: torch.aten.cat
func.func @other_parts(%y0: !torch.vtensor<[?],f32>, %x: !torch.vtensor<[?],f32>, %one: !torch.vtensor<[1],f32>, %n: index) -> (!torch.vtensor<[?],f32>, !torch.vtensor<[?],f32>) {
  %int0 = torch.constant.int 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%y = %y0, %z = %y0) -> (!torch.vtensor<[?],f32>, !torch.vtensor<[?],f32>) {
    %list = torch.prim.ListConstruct %y, %x : (!torch.vtensor<[?],f32>, !torch.vtensor<[?],f32>) -> !torch.list<vtensor>
    %longer = torch.aten.cat %list, %int0 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[?],f32>
    %front = torch.prim.ListConstruct %one, %z : (!torch.vtensor<[1],f32>, !torch.vtensor<[?],f32>) -> !torch.list<vtensor>
    %behind = torch.aten.cat %front, %int0 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[?],f32>
    scf.yield %longer, %behind : !torch.vtensor<[?],f32>, !torch.vtensor<[?],f32>
  }
  return %r#0, %r#1 : !torch.vtensor<[?],f32>, !torch.vtensor<[?],f32>
}

// -----

// A list is a buffer with rows, which is made larger where an append finds no
// room. Where the number of iterations is bounded, here by the sum of two
// numbers of which each way through the iteration makes one larger, there is
// room for all of them in front of the loop, and the buffer keeps its size.
// CHECK-LABEL: func.func @list(
// CHECK-SAME: %[[FIRST:.+]]: !torch.vtensor<[?,3],f32>, %[[ROW:[^:]+]]: {{.+}}, %[[COUNT:[^:]+]]: i64, %[[N:[^:]+]]: i64,
// CHECK: %[[AHEAD:.+]] = arith.cmpi sgt, %[[N]], %c0
// CHECK: %[[EMPTY:.+]] = tensor.empty(%{{.+}}) : tensor<?x3xf32>
// CHECK: %[[PUT:.+]] = tensor.insert_slice %{{.+}} into %[[EMPTY]][0, 0]
// CHECK: %[[BUFFER:.+]] = torch_c.from_builtin_tensor %[[PUT]]
// CHECK: scf.while (%{{.+}} = %[[BUFFER]],
// CHECK: ^bb0(%[[ROWS:.+]]: !torch.vtensor<[?,3],f32>,
// CHECK: scf.if
// CHECK: %[[FITS:.+]] = arith.cmpi sle
// CHECK: cf.assert %[[FITS]], "unsupported: a list that a loop makes longer by more than 1 GiB
// CHECK-NOT: torch.aten.zeros
// CHECK: torch.aten.select_scatter %[[ROWS]], %[[ROW]]
func.func @list(%first: !torch.vtensor<[?,3],f32>, %row: !torch.vtensor<[3],f32>, %count: i64, %n: i64, %c: i1) -> (!torch.vtensor<[?,3],f32>, i64) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int3 = torch.constant.int 3
  %none = torch.constant.none
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %r:4 = scf.while (%rows = %first, %length = %count, %a = %zero, %b = %zero) : (!torch.vtensor<[?,3],f32>, i64, i64, i64) -> (!torch.vtensor<[?,3],f32>, i64, i64, i64) {
    %sum = arith.addi %a, %b : i64
    %again = arith.cmpi slt, %sum, %n : i64
    scf.condition(%again) %rows, %length, %a, %b : !torch.vtensor<[?,3],f32>, i64, i64, i64
  } do {
  ^bb0(%rows: !torch.vtensor<[?,3],f32>, %length: i64, %a: i64, %b: i64):
    %all:4 = scf.if %c -> (!torch.vtensor<[?,3],f32>, i64, i64, i64) {
      %more = arith.addi %length, %one : i64
      %size = torch.aten.size.int %rows, %int0 : !torch.vtensor<[?,3],f32>, !torch.int -> !torch.int
      %have = torch_c.to_i64 %size
      %fits = arith.cmpi sle, %more, %have : i64
      %room = scf.if %fits -> (!torch.vtensor<[?,3],f32>) {
        scf.yield %rows : !torch.vtensor<[?,3],f32>
      } else {
        %twice = arith.muli %have, %two : i64
        %wanted = torch_c.from_i64 %twice
        %sizes = torch.prim.ListConstruct %wanted, %int3 : (!torch.int, !torch.int) -> !torch.list<int>
        %zeros = torch.aten.zeros %sizes, %none, %none, %none, %none : !torch.list<int>, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[?,3],f32>
        %larger = torch.aten.slice_scatter %zeros, %rows, %int0, %int0, %size, %int1 : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[?,3],f32>
        scf.yield %larger : !torch.vtensor<[?,3],f32>
      }
      %place = torch_c.from_i64 %length
      %put = torch.aten.select_scatter %room, %row, %int0, %place : !torch.vtensor<[?,3],f32>, !torch.vtensor<[3],f32>, !torch.int, !torch.int -> !torch.vtensor<[?,3],f32>
      %next = arith.addi %a, %one : i64
      scf.yield %put, %more, %next, %b : !torch.vtensor<[?,3],f32>, i64, i64, i64
    } else {
      %next = arith.addi %b, %one : i64
      scf.yield %rows, %length, %a, %next : !torch.vtensor<[?,3],f32>, i64, i64, i64
    }
    scf.yield %all#0, %all#1, %all#2, %all#3 : !torch.vtensor<[?,3],f32>, i64, i64, i64
  }
  return %r#0, %r#1 : !torch.vtensor<[?,3],f32>, i64
}
