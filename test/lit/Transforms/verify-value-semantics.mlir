// RUN: ssa-opt --verify-value-semantics %s --split-input-file --verify-diagnostics

// Value tensors and ops that only read pass.
func.func @pure(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %r = torch.aten.neg %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}

// -----

// expected-error @+1 {{mutable tensor of type '!torch.tensor<[4],f32>' is left after TensorSSA conversion}}
func.func @mutable_argument(%x: !torch.tensor<[4],f32>) {
  return
}

// -----

func.func @mutable_result(%x: !torch.vtensor<[4],f32>) {
  // expected-error @+1 {{mutable tensor of type '!torch.tensor<[4],f32>' is left after TensorSSA conversion}}
  %r = torch.copy.to_tensor %x : !torch.tensor<[4],f32>
  return
}

// -----

// A container hides a mutable tensor.
// expected-error @+1 {{mutable tensor of type '!torch.list<tensor<[4],f32>>' is left after TensorSSA conversion}}
func.func @list_of_mutable(%x: !torch.list<tensor<[4],f32>>) {
  return
}

// -----

func.func @tssa_op(%x: !torch.vtensor<[4],f32>) {
  // expected-error @+1 {{'tssa.update' op is left after TensorSSA conversion}}
  tssa.update %x of %x : !torch.vtensor<[4],f32>
  return
}

// -----

// No tensor is mutable here, but a list of ints is written.
func.func @op_that_writes(%l: !torch.list<int>, %i: !torch.int) {
  // expected-error @+1 {{'torch.aten.append.t' writes an operand after TensorSSA conversion}}
  %r = torch.aten.append.t %l, %i : !torch.list<int>, !torch.int -> !torch.list<int>
  return
}
