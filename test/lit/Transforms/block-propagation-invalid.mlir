// Region ops around an update that are not known to the pass.
// RUN: ssa-opt --tssa-block-propagation %s --split-input-file --verify-diagnostics

func.func @index_switch(%b: !torch.vtensor<[4],f32>, %i: index) {
  // expected-error @+1 {{unsupported: 'scf.index_switch' around an update of a tensor}}
  scf.index_switch %i
  case 0 {
    %b1 = torch.aten.neg %b : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
    tssa.update %b1 of %b : !torch.vtensor<[4],f32>
    scf.yield
  }
  default {
  }
  return
}

// -----

// torch-to-scf has not run.
func.func @prim_if(%b: !torch.vtensor<[4],f32>, %c: !torch.bool) {
  // expected-error @+1 {{unsupported: 'torch.prim.If' around an update of a tensor}}
  torch.prim.If %c -> () {
    %b1 = torch.aten.neg %b : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
    tssa.update %b1 of %b : !torch.vtensor<[4],f32>
    torch.prim.If.yield
  } else {
    torch.prim.If.yield
  }
  return
}
