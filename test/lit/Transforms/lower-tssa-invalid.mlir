// Writes through views that have no meaning, or none that is known.
// RUN: ssa-opt --tssa-lower %s --split-input-file --verify-diagnostics

// Whether the element is repeated is not known, nor how often.
func.func @write_of_repeated_element(%b: !torch.vtensor<[1],f32>, %s: !torch.vtensor<[?],f32>, %n: !torch.int) -> !torch.vtensor<[1],f32> {
  %false = torch.constant.bool false
  %sizes = torch.prim.ListConstruct %n : (!torch.int) -> !torch.list<int>
  // expected-error @+1 {{unsupported: a write through 'torch.aten.expand', which shows one element several times; clone() the tensor before the write}}
  %r = tssa.assign "torch.aten.expand" %b, %s[%sizes, %false : !torch.list<int>, !torch.bool] : !torch.vtensor<[1],f32>, !torch.vtensor<[?],f32>
  return %r : !torch.vtensor<[1],f32>
}

// -----

func.func @dynamic_permutation(%b: !torch.vtensor<[4,3],f32>, %s: !torch.vtensor<[3,4],f32>, %i: !torch.int) -> !torch.vtensor<[4,3],f32> {
  %dims = torch.prim.ListConstruct %i, %i : (!torch.int, !torch.int) -> !torch.list<int>
  // expected-error @+1 {{unsupported: a permutation that is not constant is written}}
  %r = tssa.assign "torch.aten.permute" %b, %s[%dims : !torch.list<int>] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3,4],f32>
  return %r : !torch.vtensor<[4,3],f32>
}

// -----

func.func @narrow_along_dynamic_dimension(%b: !torch.vtensor<[4,4],f32>, %s: !torch.vtensor<[?,?],f32>, %d: !torch.int) -> !torch.vtensor<[4,4],f32> {
  %int1 = torch.constant.int 1
  // expected-error @+1 {{unsupported: narrow along an unknown dimension is written}}
  %r = tssa.assign "torch.aten.narrow" %b, %s[%d, %int1, %int1 : !torch.int, !torch.int, !torch.int] : !torch.vtensor<[4,4],f32>, !torch.vtensor<[?,?],f32>
  return %r : !torch.vtensor<[4,4],f32>
}

// -----

func.func @reshape_of_unknown_rank(%b: !torch.vtensor<*,f32>, %s: !torch.vtensor<[4],f32>) -> !torch.vtensor<*,f32> {
  %int0 = torch.constant.int 0
  // expected-error @+1 {{unsupported: 'torch.aten.flatten.using_ints' of a tensor of unknown rank is written}}
  %r = tssa.assign "torch.aten.flatten.using_ints" %b, %s[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<*,f32>, !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<*,f32>
}

// -----

func.func @generic_model_of_unknown_rank(%b: !torch.vtensor<*,f32>, %s: !torch.vtensor<[4],f32>) -> !torch.vtensor<*,f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  // expected-error @+1 {{unsupported: 'torch.aten.diagonal' of a tensor of unknown rank is written}}
  %r = tssa.assign "torch.aten.diagonal" %b, %s[%int0, %int0, %int1 : !torch.int, !torch.int, !torch.int] : !torch.vtensor<*,f32>, !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<*,f32>
}

// -----

// Used to crash.
func.func @not_a_permutation(%b: !torch.vtensor<[4,4],f32>, %s: !torch.vtensor<[4,4],f32>) -> !torch.vtensor<[4,4],f32> {
  %int0 = torch.constant.int 0
  %dims = torch.prim.ListConstruct %int0, %int0 : (!torch.int, !torch.int) -> !torch.list<int>
  // expected-error @+1 {{expected a permutation of 2 dimensions}}
  %r = tssa.assign "torch.aten.permute" %b, %s[%dims : !torch.list<int>] : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32>
  return %r : !torch.vtensor<[4,4],f32>
}

// -----

// Elements 1 and 2 lie in two windows: which one would win is not defined.
func.func @overlapping_windows(%b: !torch.vtensor<[4],f32>, %s: !torch.vtensor<[3,2],f32>) -> !torch.vtensor<[4],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  // expected-error @+1 {{unsupported: a write through 'torch.aten.unfold', whose windows may overlap; clone() the windows, whose write then leaves the tensor}}
  %r = tssa.assign "torch.aten.unfold" %b, %s[%int0, %int2, %int1 : !torch.int, !torch.int, !torch.int] : !torch.vtensor<[4],f32>, !torch.vtensor<[3,2],f32>
  return %r : !torch.vtensor<[4],f32>
}

// -----

func.func @as_strided(%b: !torch.vtensor<[4],f32>, %s: !torch.vtensor<[2],f32>) -> !torch.vtensor<[4],f32> {
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  %list = torch.prim.ListConstruct %int2 : (!torch.int) -> !torch.list<int>
  %zero = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
  // expected-error @+1 {{unsupported: a write through 'torch.aten.as_strided' that may show one element several times; clone() the tensor before the write}}
  %r = tssa.assign "torch.aten.as_strided" %b, %s[%list, %zero, %int0 : !torch.list<int>, !torch.list<int>, !torch.int] : !torch.vtensor<[4],f32>, !torch.vtensor<[2],f32>
  return %r : !torch.vtensor<[4],f32>
}

// -----

func.func @whole_of_another_shape(%b: !torch.vtensor<[4,3],si64>, %s: !torch.vtensor<[4],f32>) {
  // expected-error @below {{unsupported: a write of '!torch.vtensor<[4],f32>' through 'torch.tensor_static_info_cast' into '!torch.vtensor<[4,3],si64>'}}
  %w = tssa.assign "torch.tensor_static_info_cast" %b, %s : !torch.vtensor<[4,3],si64>, !torch.vtensor<[4],f32>
  return
}
