// Upstream passes must be safe on mutable tensors: what they may merge, move and erase follows from the schemas.
// RUN: ssa-opt %s --cse --canonicalize | FileCheck %s

// Without the read effect of add, --cse merged the two adds across the write.
// CHECK-LABEL: func.func @adds_around_a_write
func.func @adds_around_a_write(%x: !torch.tensor<[2],f32>, %one: !torch.int) -> (!torch.tensor<[2],f32>, !torch.tensor<[2],f32>) {
  // CHECK: %[[A:.+]] = torch.aten.add.Tensor
  // CHECK: torch.aten.add_.Tensor
  // CHECK: %[[B:.+]] = torch.aten.add.Tensor
  // CHECK: return %[[A]], %[[B]]
  %a = torch.aten.add.Tensor %x, %x, %one : !torch.tensor<[2],f32>, !torch.tensor<[2],f32>, !torch.int -> !torch.tensor<[2],f32>
  %w = torch.aten.add_.Tensor %x, %x, %one : !torch.tensor<[2],f32>, !torch.tensor<[2],f32>, !torch.int -> !torch.tensor<[2],f32>
  %b = torch.aten.add.Tensor %x, %x, %one : !torch.tensor<[2],f32>, !torch.tensor<[2],f32>, !torch.int -> !torch.tensor<[2],f32>
  return %a, %b : !torch.tensor<[2],f32>, !torch.tensor<[2],f32>
}

// Without the allocate effect, --cse merged two fresh tensors of which one is written later.
// CHECK-LABEL: func.func @fresh_tensors_one_written_later
func.func @fresh_tensors_one_written_later(%x: !torch.tensor<[2],f32>, %one: !torch.int) -> (!torch.tensor<[2],f32>, !torch.tensor<[2],f32>) {
  // CHECK: %[[A:.+]] = torch.aten.neg
  // CHECK: %[[B:.+]] = torch.aten.neg
  // CHECK: torch.aten.zero_ %[[A]]
  // CHECK: return %[[A]], %[[B]]
  %a = torch.aten.neg %x : !torch.tensor<[2],f32> -> !torch.tensor<[2],f32>
  %b = torch.aten.neg %x : !torch.tensor<[2],f32> -> !torch.tensor<[2],f32>
  %w = torch.aten.zero_ %a : !torch.tensor<[2],f32> -> !torch.tensor<[2],f32>
  return %a, %b : !torch.tensor<[2],f32>, !torch.tensor<[2],f32>
}

// The same ops on immutable tensors are pure: merged, and erased when unused.
// CHECK-LABEL: func.func @values_are_merged
func.func @values_are_merged(%x: !torch.vtensor<[2],f32>) -> (!torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>) {
  // CHECK-NEXT: %[[A:.+]] = torch.aten.neg
  // CHECK-NEXT: return %[[A]], %[[A]]
  %a = torch.aten.neg %x : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
  %b = torch.aten.neg %x : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
  %unused = torch.aten.exp %x : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
  return %a, %b : !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>
}

// A list that nothing writes is as good as a value, so that reshapes to equal sizes are merged.
// CHECK-LABEL: func.func @lists_only_read_are_merged
func.func @lists_only_read_are_merged(%x: !torch.vtensor<[2],f32>, %n: !torch.int) -> (!torch.vtensor<[?],f32>, !torch.vtensor<[?],f32>) {
  // CHECK-NEXT: %[[L:.+]] = torch.prim.ListConstruct
  // CHECK-NEXT: %[[A:.+]] = torch.aten.view %{{.+}}, %[[L]]
  // CHECK-NEXT: return %[[A]], %[[A]]
  %l = torch.prim.ListConstruct %n : (!torch.int) -> !torch.list<int>
  %a = torch.aten.view %x, %l : !torch.vtensor<[2],f32>, !torch.list<int> -> !torch.vtensor<[?],f32>
  %m = torch.prim.ListConstruct %n : (!torch.int) -> !torch.list<int>
  %b = torch.aten.view %x, %m : !torch.vtensor<[2],f32>, !torch.list<int> -> !torch.vtensor<[?],f32>
  return %a, %b : !torch.vtensor<[?],f32>, !torch.vtensor<[?],f32>
}

// A list that is appended to is not another one with the same elements.
// CHECK-LABEL: func.func @list_appended_to
func.func @list_appended_to(%n: !torch.int) -> (!torch.list<int>, !torch.list<int>) {
  // CHECK: %[[A:.+]] = torch.prim.ListConstruct
  // CHECK: %[[B:.+]] = torch.prim.ListConstruct
  // CHECK: torch.aten.append.t %[[A]]
  // CHECK: return %[[A]], %[[B]]
  %a = torch.prim.ListConstruct %n : (!torch.int) -> !torch.list<int>
  %b = torch.prim.ListConstruct %n : (!torch.int) -> !torch.list<int>
  %w = torch.aten.append.t %a, %n : !torch.list<int>, !torch.int -> !torch.list<int>
  return %a, %b : !torch.list<int>, !torch.list<int>
}

// The length of a list, read before and after it grows.
// CHECK-LABEL: func.func @length_around_an_append
func.func @length_around_an_append(%l: !torch.list<int>, %n: !torch.int) -> (!torch.int, !torch.int) {
  // CHECK: torch.aten.len.t
  // CHECK: torch.aten.append.t
  // CHECK: torch.aten.len.t
  %a = torch.aten.len.t %l : !torch.list<int> -> !torch.int
  %w = torch.aten.append.t %l, %n : !torch.list<int>, !torch.int -> !torch.list<int>
  %b = torch.aten.len.t %l : !torch.list<int> -> !torch.int
  return %a, %b : !torch.int, !torch.int
}

// A list of mutable tensors is read through: the tensors change although the list does not.
// CHECK-LABEL: func.func @cat_around_a_write
func.func @cat_around_a_write(%x: !torch.tensor<[2],f32>, %zero: !torch.int) -> (!torch.tensor<[2],f32>, !torch.tensor<[2],f32>) {
  // CHECK: %[[A:.+]] = torch.aten.cat
  // CHECK: torch.aten.zero_
  // CHECK: %[[B:.+]] = torch.aten.cat
  // CHECK: return %[[A]], %[[B]]
  %l = torch.prim.ListConstruct %x : (!torch.tensor<[2],f32>) -> !torch.list<tensor<[2],f32>>
  %a = torch.aten.cat %l, %zero : !torch.list<tensor<[2],f32>>, !torch.int -> !torch.tensor<[2],f32>
  %w = torch.aten.zero_ %x : !torch.tensor<[2],f32> -> !torch.tensor<[2],f32>
  %b = torch.aten.cat %l, %zero : !torch.list<tensor<[2],f32>>, !torch.int -> !torch.tensor<[2],f32>
  return %a, %b : !torch.tensor<[2],f32>, !torch.tensor<[2],f32>
}

// Two random values are not the same, and drawing one is an effect even if nobody looks at it.
// CHECK-LABEL: func.func @random
func.func @random(%x: !torch.vtensor<[2],f32>, %none: !torch.none) {
  // CHECK-COUNT-2: torch.aten.bernoulli
  %a = torch.aten.bernoulli %x, %none : !torch.vtensor<[2],f32>, !torch.none -> !torch.vtensor<[2],f32>
  %b = torch.aten.bernoulli %x, %none : !torch.vtensor<[2],f32>, !torch.none -> !torch.vtensor<[2],f32>
  return
}

// Ops that return nothing are there for their effect.
// CHECK-LABEL: func.func @effects_on_the_outside
func.func @effects_on_the_outside(%s: !torch.str, %none: !torch.none, %b: !torch.bool) {
  // CHECK: torch.prim.Print
  // CHECK: torch.prim.RaiseException
  // CHECK: torch.runtime.assert
  torch.prim.Print(%s) : !torch.str
  torch.prim.RaiseException %s, %none : !torch.str, !torch.none
  torch.runtime.assert %b, "ValueError: no"
  return
}

// An operator without a schema may do anything; one with a schema does what it says.
// CHECK-LABEL: func.func @operators
func.func @operators(%v: !torch.vtensor<[2],f32>) {
  // CHECK-NEXT: torch.operator "torch.my.unknown"
  // CHECK-NEXT: return
  %a = torch.operator "torch.my.unknown"(%v) : (!torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32>
  %b = torch.operator "torch.my.known"(%v) {tssa.schema = "my::known(Tensor self) -> Tensor"} : (!torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32>
  return
}

// Effects of a region op are those of what is inside.
// CHECK-LABEL: func.func @branches
func.func @branches(%c: !torch.bool, %x: !torch.tensor<[2],f32>, %v: !torch.vtensor<[2],f32>) {
  // CHECK: torch.prim.If
  // CHECK: torch.aten.zero_
  // CHECK-NOT: torch.prim.If %
  // CHECK: return
  torch.prim.If %c -> () {
    %w = torch.aten.zero_ %x : !torch.tensor<[2],f32> -> !torch.tensor<[2],f32>
    torch.prim.If.yield
  } else {
    torch.prim.If.yield
  }
  torch.prim.If %c -> () {
    %unused = torch.aten.neg %v : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
    torch.prim.If.yield
  } else {
    torch.prim.If.yield
  }
  return
}

// An op that draws from the caller's generator, which the importer has as an int: two draws are two ops, and one that
// nobody reads advances the generator.
// CHECK-LABEL: func.func @draws_from_a_generator
func.func @draws_from_a_generator(%g: !torch.int, %n: !torch.int) -> (!torch.tensor<[2],f32>, !torch.tensor<[2],f32>) {
  // CHECK-COUNT-3: torch.operator "torch.aten.rand.generator"
  %none = torch.constant.none
  %size = torch.prim.ListConstruct %n : (!torch.int) -> !torch.list<int>
  %a = torch.operator "torch.aten.rand.generator"(%size, %g, %none, %none, %none, %none) {tssa.random, tssa.schema = "aten::rand.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"} : (!torch.list<int>, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none) -> !torch.tensor<[2],f32>
  %b = torch.operator "torch.aten.rand.generator"(%size, %g, %none, %none, %none, %none) {tssa.random, tssa.schema = "aten::rand.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"} : (!torch.list<int>, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none) -> !torch.tensor<[2],f32>
  %unused = torch.operator "torch.aten.rand.generator"(%size, %g, %none, %none, %none, %none) {tssa.random, tssa.schema = "aten::rand.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"} : (!torch.list<int>, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none) -> !torch.tensor<[2],f32>
  return %a, %b : !torch.tensor<[2],f32>, !torch.tensor<[2],f32>
}
