// RUN: ssa-opt --tssa-resolve-ambiguous-aliases %s --verify-diagnostics

func.func @index_switch(%x: !torch.tensor<[3],f32>, %y: !torch.tensor<[3],f32>, %i: index) {
  // expected-error @+1 {{unsupported: 'scf.index_switch' yields one of several tensors}}
  %r = scf.index_switch %i -> !torch.tensor<[3],f32>
  case 0 {
    scf.yield %x : !torch.tensor<[3],f32>
  }
  default {
    scf.yield %y : !torch.tensor<[3],f32>
  }
  %w = torch.aten.zero_ %r : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32>
  return
}
