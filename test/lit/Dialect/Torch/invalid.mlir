// Malformed IR: a diagnostic each, and never a crash.
// RUN: ssa-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{unknown torch type 'foo'}}
func.func private @f(!torch.list<foo>)

// -----
// expected-error @below {{expected a PyTorch dtype, got 'i7'}}
func.func private @f(!torch.tensor<[2],i7>)

// -----
// expected-error @below {{expected integer value}}
func.func private @f(!torch.tensor<[x],f32>)

// -----
// expected-error @below {{expected a size of at least 0, got -3}}
func.func private @f(!torch.tensor<[-3],f32>)

// -----
// expected-error @below {{unsupported: sparse tensor encoding}}
func.func private @f(!torch.tensor<[3],f32,#foo>)

// -----
func.func @operand_type(%x: !torch.tensor, %s: !torch.str) {
  // expected-error @below {{operand #2 ('alpha') must be Scalar, but got '!torch.str'}}
  %0 = torch.aten.add.Tensor %x, %x, %s : !torch.tensor, !torch.tensor, !torch.str -> !torch.tensor
  return
}

// -----
func.func @result_type(%x: !torch.tensor) {
  // expected-error @below {{result #0 must be Tensor, but got '!torch.int'}}
  %0 = torch.aten.neg %x : !torch.tensor -> !torch.int
  return
}

// -----
func.func @written_value(%x: !torch.vtensor) {
  // expected-error @below {{operand #0 ('self') is written and must be !torch.tensor, but got '!torch.vtensor'}}
  %0 = torch.aten.neg_ %x : !torch.vtensor -> !torch.vtensor
  return
}

// -----
func.func @operand_count(%x: !torch.tensor) {
  // expected-error @below {{expected 1 operands, but got 2}}
  %0 = "torch.aten.neg"(%x, %x) : (!torch.tensor, !torch.tensor) -> !torch.tensor
  return
}

// -----
func.func @result_count(%x: !torch.tensor) {
  // expected-error @below {{expected 1 results, but got 0}}
  "torch.aten.neg"(%x) : (!torch.tensor) -> ()
  return
}

// -----
func.func @region(%x: !torch.tensor) {
  // expected-error @below {{requires zero regions}}
  %0 = "torch.aten.neg"(%x) ({}) : (!torch.tensor) -> !torch.tensor
  return
}

// -----
func.func @properties(%x: !torch.tensor) {
  // expected-error @below {{this operation does not support properties}}
  %0 = "torch.aten.neg"(%x) <{a = 1}> : (!torch.tensor) -> !torch.tensor
  return
}

// -----
func.func @builtin_type(%x: tensor<2xf32>) {
  // expected-error @below {{operand #0 ('self') must be Tensor, but got 'tensor<2xf32>'}}
  %0 = torch.aten.neg %x : tensor<2xf32> -> !torch.tensor
  return
}

// -----
func.func @bad_schema(%x: !torch.tensor) {
  // expected-error @below {{expected attribute 'tssa.schema' to be a PyTorch schema: expected ')' after an alias set at character 17}}
  %0 = torch.operator "my.op"(%x) {tssa.schema = "my::op(Tensor(a! self -> Tensor"} : (!torch.tensor) -> !torch.tensor
  return
}

// -----
func.func @schema_of_another(%x: !torch.tensor) {
  // expected-error @below {{expected the schema of 'my.op', got that of 'torch.my.other'}}
  %0 = torch.operator "my.op"(%x) {tssa.schema = "my::other(Tensor self) -> Tensor"} : (!torch.tensor) -> !torch.tensor
  return
}

// -----
func.func @schema_is_no_string(%x: !torch.tensor) {
  // expected-error @below {{expected attribute 'tssa.schema' to be a string, got 1}}
  %0 = torch.operator "my.op"(%x) {tssa.schema = 1} : (!torch.tensor) -> !torch.tensor
  return
}

// -----
func.func @loop_without_arguments(%n: !torch.int, %b: !torch.bool) {
  // expected-error @below {{expected the first argument of the body to be the iteration number, a !torch.int}}
  "torch.prim.Loop"(%n, %b) ({
    "torch.prim.Loop.condition"(%b) : (!torch.bool) -> ()
  }) : (!torch.int, !torch.bool) -> ()
  return
}

// -----
func.func @if_with_empty_region(%b: !torch.bool) {
  // expected-error @below {{failed to verify constraint: region with 1 blocks}}
  "torch.prim.If"(%b) ({}, {}) : (!torch.bool) -> ()
  return
}

// -----
func.func @if_without_terminator(%b: !torch.bool, %d: i1) {
  "torch.prim.If"(%b) ({
    %c = torch.constant.int 1
    // expected-error @below {{block with no terminator}}
    cf.assert %d, "no terminator"
  }, {
    torch.prim.If.yield
  }) : (!torch.bool) -> ()
  return
}

// -----
func.func @list_elements(%i: !torch.int) {
  // expected-error @below {{expected elements of type '!torch.str', got '!torch.int'}}
  %0 = torch.prim.ListConstruct %i : (!torch.int) -> !torch.list<str>
  return
}

// -----
func.func @literal_type() {
  // expected-error @below {{expected a result type that includes '!torch.tensor<[2],f32>', got '!torch.tensor<[3],f32>'}}
  %0 = torch.tensor.literal(dense<1.0> : tensor<2xf32>) : !torch.tensor<[3],f32>
  return
}

// -----
func.func @cast_sizes(%x: !torch.vtensor<[2],f32>) {
  // expected-error @below {{expected the same sizes on both sides}}
  %0 = torch_c.to_builtin_tensor %x : !torch.vtensor<[2],f32> -> tensor<3xf32>
  return
}

// -----
func.func @written_result_of_another_dtype(%x: !torch.tensor<[2],si64>, %i: !torch.int) {
  // expected-error @below {{result #0 is operand #0, which is written, but has another dtype}}
  %0 = torch.aten.lt_.Scalar %x, %i : !torch.tensor<[2],si64>, !torch.int -> !torch.tensor<[2],i1>
  return
}

// -----
func.func @float_for_a_generator(%x: !torch.tensor<[2],f32>, %g: !torch.float) {
  // expected-error @below {{operand #1 ('generator') must be Generator?, but got '!torch.float'}}
  %0 = torch.operator "torch.aten.cauchy_like"(%x, %g) {tssa.schema = "aten::cauchy_like(Tensor self, *, Generator? generator=None) -> Tensor"} : (!torch.tensor<[2],f32>, !torch.float) -> !torch.tensor<[2],f32>
  return
}
