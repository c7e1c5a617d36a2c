// RUN: ssa-opt %s --tssa-resolve-ambiguous-aliases --tssa-rewrite-mutation --verify-diagnostics

// A storage that a region made leaves it under two names, one of them an ambiguous alias: a write through either must be seen through
// the other, for which there is no form yet.
func.func @two_names_leave(%x: !torch.tensor<[3],f32>, %c: i1, %d: i1) -> (!torch.tensor<[3],f32>, !torch.tensor<[3],f32>) {
  %r:2 = scf.if %c -> (!torch.tensor<[3],f32>, !torch.tensor<[3],f32>) {
    %t = torch.aten.neg %x : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
    %u = scf.if %d -> !torch.tensor<[3],f32> {
      // expected-error @+2 {{a tensor that is one of several tensors}}
      // expected-note @+1 {{the second name is given here}}
      scf.yield %t : !torch.tensor<[3],f32>
    } else {
      scf.yield %x : !torch.tensor<[3],f32>
    }
    scf.yield %u, %t : !torch.tensor<[3],f32>, !torch.tensor<[3],f32>
  } else {
    scf.yield %x, %x : !torch.tensor<[3],f32>, !torch.tensor<[3],f32>
  }
  %w = torch.aten.zero_ %r#0 : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  return %r#0, %r#1 : !torch.tensor<[3],f32>, !torch.tensor<[3],f32>
}
