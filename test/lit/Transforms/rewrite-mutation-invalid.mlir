// What the conversion rejects, at the op to change.
// RUN: ssa-opt --tssa-rewrite-mutation %s --split-input-file --verify-diagnostics

// One of two tensors is written, and the caller sees one of them.
func.func @write_of_one_of_two(%x: !torch.tensor<[4],f32>, %y: !torch.tensor<[4],f32>, %c: i1) {
  // expected-note @+1 {{the second name is given here}}
  %r = arith.select %c, %x, %y : !torch.tensor<[4],f32>
  // expected-error @+1 {{unsupported: a tensor that is one of several tensors, depending on control flow, is written while another name of it is in use; clone it where it gets its second name}}
  %w = torch.aten.zero_ %r : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  return
}

// -----

// A loop writes the row that it carries, and the tensor is read after it.
func.func @write_of_carried_view(%x: !torch.tensor<[4,3],f32>, %n: index) -> !torch.tensor<[4,3],f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %int0 = torch.constant.int 0
  %none = torch.constant.none
  %a = torch.aten.clone %x, %none : !torch.tensor<[4,3],f32>, !torch.none -> !torch.tensor<[4,3],f32>
  %first = torch.aten.select.int %a, %int0, %int0 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
  // expected-note @+1 {{the second name is given here}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%row = %first) -> (!torch.tensor<[3],f32>) {
    // expected-error @+1 {{is one of several tensors}}
    %w = torch.aten.zero_ %row : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
    %i64 = arith.index_cast %i : index to i64
    %k = torch_c.from_i64 %i64
    %next = torch.aten.select.int %a, %int0, %k : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
    scf.yield %next : !torch.tensor<[3],f32>
  }
  return %a : !torch.tensor<[4,3],f32>
}

// -----

func.func @write_of_what_may_be_a_view(%x: !torch.tensor<[2,2],f32>) -> !torch.tensor<[4],f32> {
  %int4 = torch.constant.int 4
  %sizes = torch.prim.ListConstruct %int4 : (!torch.int) -> !torch.list<int>
  // expected-note @+1 {{the second name is given here}}
  %r = torch.aten.reshape %x, %sizes : !torch.tensor<[2,2],f32>, !torch.list<int> -> !torch.tensor<[4],f32>
  // expected-error @+1 {{unsupported: what 'torch.aten.reshape' returns, which is a view or a copy, or what it was made from is written while the other one is in use; use an op that always views or always copies}}
  %w = torch.aten.zero_ %r : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  return %r : !torch.tensor<[4],f32>
}

// -----

// A buffer that holds the rows is a second name of each of them.
func.func @write_of_what_a_list_holds(%x: !torch.tensor<[3],f32>, %b: !torch.tensor<[?,3],f32>) -> !torch.tensor<[?,3],f32> {
  %int0 = torch.constant.int 0
  // expected-note @+1 {{the second name is given here}}
  %r = torch.operator "torch.aliasing.aten.select_scatter"(%b, %x, %int0, %int0) {tssa.held_by = "a list that grows", tssa.schema = "aliasing::aten.select_scatter(Tensor(a) self, Tensor(a) src, int dim, SymInt index) -> Tensor(a)"} : (!torch.tensor<[?,3],f32>, !torch.tensor<[3],f32>, !torch.int, !torch.int) -> !torch.tensor<[?,3],f32>
  // expected-error @+1 {{unsupported: a tensor that is in a list that grows is written, through one of its names, while another one is in use; clone it where it is put there}}
  %w = torch.aten.zero_ %x : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  return %r : !torch.tensor<[?,3],f32>
}

// -----

// The region returns a view that it took: written, and its base is the caller's.
func.func @write_of_view_that_left_its_region(%x: !torch.tensor<[4],f32>, %i: !torch.int) {
  %int0 = torch.constant.int 0
  %v = scf.execute_region -> !torch.tensor<[],f32> {
    %s = torch.aten.select.int %x, %int0, %i : !torch.tensor<[4],f32>, !torch.int, !torch.int -> !torch.tensor<[],f32>
    // expected-note @+1 {{the second name is given here}}
    scf.yield %s : !torch.tensor<[],f32>
  }
  // expected-error @+1 {{is one of several tensors}}
  %w = torch.aten.zero_ %v : !torch.tensor<[],f32> -> !torch.tensor<[],f32>
  return
}

// -----

// It changes sizes and strides: a copy of the contents would not say so.
func.func @metadata(%x: !torch.tensor<[3,3],f32>) {
  // expected-error @+1 {{unsupported: no pure form of 'torch.aten.t_' is known}}
  %w = torch.operator "torch.aten.t_"(%x) : (!torch.tensor<[3,3],f32>) -> !torch.tensor<[3,3],f32>
  return
}

// -----

// Stored one after the other, the second would overwrite what the first wrote.
func.func @two_views_of_one_tensor(%x: !torch.tensor<[4,3],f32>) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %a = torch.aten.select.int %x, %int0, %int0 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
  %b = torch.aten.select.int %x, %int0, %int1 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
  // expected-error @+1 {{unsupported: 'torch.my.swap_' writes two views of one tensor}}
  torch.operator "torch.my.swap_"(%a, %b) {tssa.schema = "my::swap_(Tensor(a!) x, Tensor(b!) y) -> ()"} : (!torch.tensor<[3],f32>, !torch.tensor<[3],f32>) -> ()
  return
}

// -----

func.func @unknown_schema(%x: !torch.tensor<[4],f32>) {
  // expected-error @+1 {{unsupported: 'torch.my.op' takes a mutable tensor and its schema is not known}}
  torch.operator "torch.my.op"(%x) : (!torch.tensor<[4],f32>) -> ()
  return
}

// -----

func.func private @callee(!torch.tensor<[4],f32>)
func.func @call(%x: !torch.tensor<[4],f32>) {
  // expected-error @+1 {{unsupported: a call that takes or returns a mutable tensor; run --inline}}
  call @callee(%x) : (!torch.tensor<[4],f32>) -> ()
  return
}

// -----

func.func private @callee() -> !torch.tensor<[4],f32>
func.func @call_returns_tensor() {
  // expected-error @+1 {{unsupported: a call that takes or returns a mutable tensor; run --inline}}
  %x = call @callee() : () -> !torch.tensor<[4],f32>
  return
}

// -----

// The list outlives the write: its elements may be two tensors then.
func.func @list_element(%x: !torch.tensor<[4],f32>) {
  %int0 = torch.constant.int 0
  %list = torch.prim.ListConstruct %x : (!torch.tensor<[4],f32>) -> !torch.list<tensor<[4],f32>>
  // expected-error @+1 {{unsupported: a list of tensors that is kept while tensors are written}}
  %e = torch.aten.__getitem__.t %list, %int0 : !torch.list<tensor<[4],f32>>, !torch.int -> !torch.tensor<[4],f32>
  %w = torch.aten.zero_ %e : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  return
}

// -----

// Writes the elements: the op would be left alone, and its effect forgotten.
func.func @write_of_list_elements(%x: !torch.tensor<[4],f32>) {
  %int1 = torch.constant.int 1
  %list = torch.prim.ListConstruct %x : (!torch.tensor<[4],f32>) -> !torch.list<tensor<[4],f32>>
  // expected-error @+1 {{unsupported: 'torch.aten._foreach_add_.Scalar' writes a container of mutable tensors}}
  torch.operator "torch.aten._foreach_add_.Scalar"(%list, %int1) {tssa.schema = "aten::_foreach_add_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()"} : (!torch.list<tensor<[4],f32>>, !torch.int) -> ()
  return
}

// -----

func.func @write_of_list(%x: !torch.tensor<[4],f32>) {
  %list = torch.prim.ListConstruct %x : (!torch.tensor<[4],f32>) -> !torch.list<tensor<[4],f32>>
  // expected-error @+1 {{unsupported: 'torch.aten.append.t' writes a container of mutable tensors}}
  %longer = torch.aten.append.t %list, %x : !torch.list<tensor<[4],f32>>, !torch.tensor<[4],f32> -> !torch.list<tensor<[4],f32>>
  return
}

// -----

func.func @list_of_lists(%x: !torch.tensor<[4],f32>) {
  %list = torch.prim.ListConstruct %x : (!torch.tensor<[4],f32>) -> !torch.list<tensor<[4],f32>>
  // expected-error @+1 {{unsupported: a list of lists of mutable tensors}}
  %lists = torch.prim.ListConstruct %list : (!torch.list<tensor<[4],f32>>) -> !torch.list<list<tensor<[4],f32>>>
  return
}

// -----

// Used to crash: the list was erased while the branch still returned it.
func.func @list_leaves_branch(%x: !torch.tensor<[4],f32>, %c: i1) {
  %r = scf.if %c -> !torch.list<tensor<[4],f32>> {
    %list = torch.prim.ListConstruct %x : (!torch.tensor<[4],f32>) -> !torch.list<tensor<[4],f32>>
    // expected-error @+1 {{unsupported: 'scf.yield' of a container of mutable tensors}}
    scf.yield %list : !torch.list<tensor<[4],f32>>
  } else {
    %list = torch.prim.ListConstruct %x, %x : (!torch.tensor<[4],f32>, !torch.tensor<[4],f32>) -> !torch.list<tensor<[4],f32>>
    scf.yield %list : !torch.list<tensor<[4],f32>>
  }
  return
}

// -----

func.func @unknown_op(%x: !torch.tensor<[4],f32>) -> !torch.tuple<tensor<[4],f32>> {
  // expected-error @+1 {{unsupported: 'torch.prim.TupleConstruct' of a mutable tensor}}
  %t = torch.prim.TupleConstruct %x : !torch.tensor<[4],f32> -> !torch.tuple<tensor<[4],f32>>
  return %t : !torch.tuple<tensor<[4],f32>>
}

// -----

// expected-error @+1 {{unsupported: a function with several blocks; use structured control flow}}
func.func @several_blocks(%x: !torch.tensor<[4],f32>) {
  cf.br ^bb1
^bb1:
  return
}

// -----

func.func @region_with_several_blocks(%x: !torch.tensor<[4],f32>) {
  // expected-error @+1 {{unsupported: 'scf.execute_region' has a region that may use mutable tensors}}
  scf.execute_region {
    %w = torch.aten.zero_ %x : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
    cf.br ^bb1
  ^bb1:
    %w2 = torch.aten.neg_ %x : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
    scf.yield
  }
  return
}

// -----

// The second iteration writes %y itself, which the loop yields once more. Used to
// return %y as it was before.
func.func @loop_carries_outer_tensor_again(%x: !torch.vtensor<[4],f32>, %n: index) -> !torch.tensor<[4],f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = torch.copy.to_tensor %x : !torch.tensor<[4],f32>
  %y = torch.copy.to_tensor %x : !torch.tensor<[4],f32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%k = %a) -> (!torch.tensor<[4],f32>) {
    // expected-error @+1 {{is one of several tensors}}
    %w = torch.aten.neg_ %k : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
    // expected-note @+1 {{the second name is given here}}
    scf.yield %y : !torch.tensor<[4],f32>
  }
  return %r : !torch.tensor<[4],f32>
}

// -----

// Two carried values are one tensor from the second iteration on.
func.func @loop_carries_new_tensor_twice(%x: !torch.tensor<[4],f32>, %n: index) -> !torch.tensor<[4],f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = torch.aten.neg %x : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  %q = torch.aten.abs %x : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %p, %b = %q) -> (!torch.tensor<[4],f32>, !torch.tensor<[4],f32>) {
    // expected-error @+1 {{is one of several tensors}}
    %w = torch.aten.zero_ %a : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
    %t = torch.aten.neg %b : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
    // expected-note @+1 {{the second name is given here}}
    scf.yield %t, %t : !torch.tensor<[4],f32>, !torch.tensor<[4],f32>
  }
  return %r#1 : !torch.tensor<[4],f32>
}

// -----

// Of a transposed tensor as_strided shows other elements than of a copy of it; it was
// taken for a function of its base.
func.func @as_strided(%x: !torch.tensor<[4,3],f32>) -> !torch.tensor<[3],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int3 = torch.constant.int 3
  %size = torch.prim.ListConstruct %int3 : (!torch.int) -> !torch.list<int>
  %stride = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
  %t = torch.aten.t %x : !torch.tensor<[4,3],f32> -> !torch.tensor<[3,4],f32>
  // expected-error @+1 {{unsupported: 'torch.aten.as_strided' of a view, whose strides are not known; apply it to the tensor that owns the storage}}
  %r = torch.aten.as_strided %t, %size, %stride, %int0 : !torch.tensor<[3,4],f32>, !torch.list<int>, !torch.list<int>, !torch.int -> !torch.tensor<[3],f32>
  return %r : !torch.tensor<[3],f32>
}

// -----

// The pieces show the write that comes after the split.
func.func @list_of_views_read_after_write(%x: !torch.tensor<[4],f32>) -> !torch.tensor<[4],f32> {
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  // expected-error @+1 {{unsupported: 'torch.aten.split.Tensor' returns views that are not followed while tensors are written}}
  %list = torch.aten.split.Tensor %x, %int2, %int0 : !torch.tensor<[4],f32>, !torch.int, !torch.int -> !torch.list<tensor<[2],f32>>
  %w = torch.aten.zero_ %x : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  %r = torch.aten.cat %list, %int0 : !torch.list<tensor<[2],f32>>, !torch.int -> !torch.tensor<[4],f32>
  return %r : !torch.tensor<[4],f32>
}

// -----

// The two results are one new tensor.
func.func @results_that_alias_each_other(%x: !torch.tensor<[2],f32>) -> !torch.tensor<[2],f32> {
  // expected-error @+1 {{unsupported: 'torch.my.pair' returns views that are not followed while tensors are written}}
  %a, %b = torch.operator "torch.my.pair"(%x) {tssa.schema = "my::pair(Tensor x) -> (Tensor(a), Tensor(a))"} : (!torch.tensor<[2],f32>) -> (!torch.tensor<[2],f32>, !torch.tensor<[2],f32>)
  %w = torch.aten.zero_ %a : !torch.tensor<[2],f32> -> !torch.tensor<[2],f32>
  return %b : !torch.tensor<[2],f32>
}

// -----

// Each repetition would get a value of its own.
func.func @all_repetitions(%a: !torch.tensor<[1,5],f32>) {
  %false = torch.constant.bool false
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %int5 = torch.constant.int 5
  %sizes = torch.prim.ListConstruct %int3, %int5 : (!torch.int, !torch.int) -> !torch.list<int>
  %e = torch.aten.expand %a, %sizes, %false : !torch.tensor<[1,5],f32>, !torch.list<int>, !torch.bool -> !torch.tensor<[3,5],f32>
  // expected-error @+1 {{unsupported: a write through 'torch.aten.expand', which shows one element several times; clone() the tensor before the write}}
  %w = torch.aten.neg_ %e : !torch.tensor<[3,5],f32> -> !torch.tensor<[3,5],f32>
  return
}

// -----

// The first repetition, which is stored, is not written.
func.func @second_repetition(%a: !torch.tensor<[1,5],f32>) {
  %false = torch.constant.bool false
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %int5 = torch.constant.int 5
  %sizes = torch.prim.ListConstruct %int3, %int5 : (!torch.int, !torch.int) -> !torch.list<int>
  %e = torch.aten.expand %a, %sizes, %false : !torch.tensor<[1,5],f32>, !torch.list<int>, !torch.bool -> !torch.tensor<[3,5],f32>
  %row = torch.aten.select.int %e, %int0, %int1 : !torch.tensor<[3,5],f32>, !torch.int, !torch.int -> !torch.tensor<[5],f32>
  // expected-error @+1 {{a write through 'torch.aten.expand', which shows one element several times}}
  %w = torch.aten.neg_ %row : !torch.tensor<[5],f32> -> !torch.tensor<[5],f32>
  return
}

// -----

// Neither here.
func.func @later_repetitions(%a: !torch.tensor<[1,5],f32>) {
  %false = torch.constant.bool false
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %int5 = torch.constant.int 5
  %sizes = torch.prim.ListConstruct %int3, %int5 : (!torch.int, !torch.int) -> !torch.list<int>
  %e = torch.aten.expand %a, %sizes, %false : !torch.tensor<[1,5],f32>, !torch.list<int>, !torch.bool -> !torch.tensor<[3,5],f32>
  %rows = torch.aten.slice.Tensor %e, %int0, %int2, %int3, %int1 : !torch.tensor<[3,5],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.tensor<[1,5],f32>
  // expected-error @+1 {{a write through 'torch.aten.expand', which shows one element several times}}
  %w = torch.aten.neg_ %rows : !torch.tensor<[1,5],f32> -> !torch.tensor<[1,5],f32>
  return
}

// -----

// The diagonal shows another repetition of each element.
func.func @diagonal_of_repetitions(%a: !torch.tensor<[1,5],f32>) {
  %false = torch.constant.bool false
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %int5 = torch.constant.int 5
  %sizes = torch.prim.ListConstruct %int3, %int5 : (!torch.int, !torch.int) -> !torch.list<int>
  %e = torch.aten.expand %a, %sizes, %false : !torch.tensor<[1,5],f32>, !torch.list<int>, !torch.bool -> !torch.tensor<[3,5],f32>
  %d = torch.aten.diagonal %e, %int0, %int0, %int1 : !torch.tensor<[3,5],f32>, !torch.int, !torch.int, !torch.int -> !torch.tensor<[3],f32>
  // expected-error @+1 {{a write through 'torch.aten.expand', which shows one element several times}}
  %w = torch.aten.neg_ %d : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  return
}
