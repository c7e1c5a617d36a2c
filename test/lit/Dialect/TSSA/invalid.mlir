// RUN: ssa-opt-test %s --split-input-file --verify-diagnostics

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

// -----

func.func @access_c2(%b: !torch.vtensor<[4],f32>, %d: !torch.int) {
  // expected-error @+1 {{'tssa.access' op expected 2 params of 'torch.aten.select.int', got 1}}
  %r = tssa.access "torch.aten.select.int" %b[%d : !torch.int] : !torch.vtensor<[4],f32> -> !torch.vtensor<[],f32>
  return
}

// -----

func.func @assign_c3(%b: !torch.vtensor<[4],f32>, %s: !torch.vtensor<[],f32>) {
  // expected-error @+1 {{'tssa.assign' op expected 2 params of 'torch.aten.select.int', got 0}}
  %r = tssa.assign "torch.aten.select.int" %b, %s : !torch.vtensor<[4],f32>, !torch.vtensor<[],f32>
  return
}

// -----

func.func @schema_attribute(%b: !torch.vtensor<[4],f32>) {
  // expected-error @+1 {{'tssa.access' op expected a PyTorch schema: }}
  %r = tssa.access "torch.test.reverse_rows" %b {schema = "reverse"} : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return
}

// -----

func.func @schema_of_another_view(%b: !torch.vtensor<[4],f32>) {
  // expected-error @+1 {{'tssa.access' op expected the schema of 'torch.test.reverse_rows', got that of 'torch.aten.sinc_'}}
  %r = tssa.access "torch.test.reverse_rows" %b {schema = "aten::sinc_(Tensor(a!) self) -> Tensor(a!)"} : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return
}

// -----

func.func @type_of_a_param(%b: !torch.vtensor<[4],f32>) {
  %none = torch.constant.none
  // expected-error @+1 {{'tssa.access' op param 'dim' must be int, but got '!torch.none'}}
  %r = tssa.access "torch.aten.select.int" %b[%none, %none : !torch.none, !torch.none] : !torch.vtensor<[4],f32> -> !torch.vtensor<[],f32>
  return
}
