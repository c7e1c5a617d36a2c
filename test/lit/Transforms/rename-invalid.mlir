// RUN: ssa-opt --tssa-rename %s --verify-diagnostics

// The use after the branch would silently keep the old version.
func.func @update_is_not_propagated(%b: !torch.vtensor<[4],f32>, %c: i1) -> !torch.vtensor<[4],f32> {
  scf.if %c {
    %b1 = torch.aten.neg %b : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
    // expected-error @+1 {{'tssa.update' op is not announced after the region op; run --tssa-block-propagation first}}
    tssa.update %b1 of %b : !torch.vtensor<[4],f32>
  }
  return %b : !torch.vtensor<[4],f32>
}
