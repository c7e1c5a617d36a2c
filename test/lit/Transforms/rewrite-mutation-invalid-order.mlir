// Names of one memory of which one is written before the other is used, in an order that is not that of the lines.
// RUN: ssa-opt --tssa-rewrite-mutation %s --split-input-file --verify-diagnostics

// The merge that is written is not the one that %a flows into.
func.func @written_two_merges_later(%x: !torch.tensor<[4],f32>, %c: i1) -> !torch.tensor<[4],f32> {
  %none = torch.constant.none
  %a = torch.aten.clone %x, %none : !torch.tensor<[4],f32>, !torch.none -> !torch.tensor<[4],f32>
  %b = torch.aten.clone %x, %none : !torch.tensor<[4],f32>, !torch.none -> !torch.tensor<[4],f32>
  %d = torch.aten.clone %x, %none : !torch.tensor<[4],f32>, !torch.none -> !torch.tensor<[4],f32>
  // expected-error @below {{is written while another name of it is in use}}
  // expected-note @below {{the second name is given here}}
  %m = arith.select %c, %a, %b : !torch.tensor<[4],f32>
  %n = arith.select %c, %m, %d : !torch.tensor<[4],f32>
  %w = torch.aten.neg_ %n : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  %r = torch.aten.abs %a : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  return %r : !torch.tensor<[4],f32>
}

// -----

// The list is made before %a gets its second name, and read after the write.
func.func @in_a_list(%x: !torch.tensor<[4],f32>, %c: i1) -> !torch.tensor<[8],f32> {
  %none = torch.constant.none
  %int0 = torch.constant.int 0
  %a = torch.aten.clone %x, %none : !torch.tensor<[4],f32>, !torch.none -> !torch.tensor<[4],f32>
  %b = torch.aten.clone %x, %none : !torch.tensor<[4],f32>, !torch.none -> !torch.tensor<[4],f32>
  %list = torch.prim.ListConstruct %a, %a : (!torch.tensor<[4],f32>, !torch.tensor<[4],f32>) -> !torch.list<tensor<[4],f32>>
  // expected-note @below {{the second name is given here}}
  %m = arith.select %c, %a, %b : !torch.tensor<[4],f32>
  // expected-error @below {{is written while another name of it is in use}}
  %w = torch.aten.neg_ %m : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  %r = torch.aten.cat %list, %int0 : !torch.list<tensor<[4],f32>>, !torch.int -> !torch.tensor<[8],f32>
  return %r : !torch.tensor<[8],f32>
}

// -----

// %a is read before the write, but the next iteration reads it again.
func.func @read_in_the_next_iteration(%x: !torch.tensor<[4],f32>, %c: i1, %count: index) {
  %none = torch.constant.none
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = torch.aten.clone %x, %none : !torch.tensor<[4],f32>, !torch.none -> !torch.tensor<[4],f32>
  %b = torch.aten.clone %x, %none : !torch.tensor<[4],f32>, !torch.none -> !torch.tensor<[4],f32>
  scf.for %i = %c0 to %count step %c1 {
    %r = torch.aten.abs %a : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
    // expected-note @below {{the second name is given here}}
    %m = arith.select %c, %a, %b : !torch.tensor<[4],f32>
    // expected-error @below {{is written while another name of it is in use}}
    %w = torch.aten.neg_ %m : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  }
  return
}

// -----

// The merge is only read, but what it may be is written before.
func.func @source_written(%x: !torch.tensor<[4],f32>, %c: i1) -> !torch.tensor<[4],f32> {
  %none = torch.constant.none
  %a = torch.aten.clone %x, %none : !torch.tensor<[4],f32>, !torch.none -> !torch.tensor<[4],f32>
  %b = torch.aten.clone %x, %none : !torch.tensor<[4],f32>, !torch.none -> !torch.tensor<[4],f32>
  // expected-note @below {{the second name is given here}}
  %m = arith.select %c, %a, %b : !torch.tensor<[4],f32>
  // expected-error @below {{is written while another name of it is in use}}
  %w = torch.aten.neg_ %a : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  %r = torch.aten.abs %m : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  return %r : !torch.tensor<[4],f32>
}

// -----

// Both names meet again, but the first was written before.
func.func @written_before_they_meet(%x: !torch.tensor<[4],f32>, %c: i1, %d: i1) -> !torch.tensor<[4],f32> {
  %none = torch.constant.none
  %a = torch.aten.clone %x, %none : !torch.tensor<[4],f32>, !torch.none -> !torch.tensor<[4],f32>
  %b = torch.aten.clone %x, %none : !torch.tensor<[4],f32>, !torch.none -> !torch.tensor<[4],f32>
  // expected-note @below {{the second name is given here}}
  %m = arith.select %c, %a, %b : !torch.tensor<[4],f32>
  // expected-error @below {{is written while another name of it is in use}}
  %w = torch.aten.neg_ %m : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  %n = arith.select %d, %m, %a : !torch.tensor<[4],f32>
  %r = torch.aten.abs %n : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  return %r : !torch.tensor<[4],f32>
}

// -----

// Each iteration writes before the names meet: the other one was given in the iteration before.
func.func @written_in_the_next_iteration(%x: !torch.tensor<[4],f32>, %c: i1, %count: index) -> !torch.tensor<[4],f32> {
  %none = torch.constant.none
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = torch.aten.clone %x, %none : !torch.tensor<[4],f32>, !torch.none -> !torch.tensor<[4],f32>
  %b = torch.aten.clone %x, %none : !torch.tensor<[4],f32>, !torch.none -> !torch.tensor<[4],f32>
  %r:2 = scf.for %i = %c0 to %count step %c1 iter_args(%p = %a, %q = %b) -> (!torch.tensor<[4],f32>, !torch.tensor<[4],f32>) {
    // expected-error @below {{is written while another name of it is in use}}
    %w = torch.aten.neg_ %p : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
    %m = arith.select %c, %p, %q : !torch.tensor<[4],f32>
    %fresh = torch.aten.abs %m : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
    // expected-note @below {{the second name is given here}}
    scf.yield %fresh, %fresh : !torch.tensor<[4],f32>, !torch.tensor<[4],f32>
  }
  %s = torch.aten.abs %r#0 : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  return %s : !torch.tensor<[4],f32>
}
