// RUN: ssa-opt %s --split-input-file --verify-diagnostics

// access_c1
func.func @access_c1(%b: !torch.vtensor<[4],f32>) {
  // expected-error @+1 {{'tssa.access' op expected the name of a view op, got 'torch.aten.neg'}}
  %r = tssa.access "torch.aten.neg" %b : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return
}

// -----

// assign_c1
func.func @assign_c1(%b: !torch.vtensor<[4],f32>) {
  // expected-error @+1 {{'tssa.assign' op expected the name of a view op, got 'select'}}
  %r = tssa.assign "select" %b, %b : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>
  return
}

// -----

func.func @assign_c2(%b: !torch.vtensor<[4],f32>, %s: !torch.vtensor<[3],f32>) {
  // expected-error @+1 {{'tssa.assign' op failed to verify that the result has the type of base}}
  %r = "tssa.assign"(%b, %s) {view = "torch.aten.t"} : (!torch.vtensor<[4],f32>, !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32>
  return
}

// -----

func.func @update_c1(%b: !torch.vtensor<[4],f32>, %s: !torch.vtensor<[3],f32>) {
  // expected-error @+1 {{'tssa.update' op failed to verify that value and old have the same type}}
  "tssa.update"(%s, %b) : (!torch.vtensor<[3],f32>, !torch.vtensor<[4],f32>) -> ()
  return
}

// -----

func.func @mutable_base(%b: !torch.tensor<[4,3],f32>) {
  // expected-error @+1 {{operand #0 must be torch value tensor (!torch.vtensor), but got '!torch.tensor<[4,3],f32>'}}
  %r = tssa.access "torch.aten.t" %b : !torch.tensor<[4,3],f32> -> !torch.vtensor<[3,4],f32>
  return
}
