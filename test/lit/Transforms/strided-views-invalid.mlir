// as_strided without what its positions are computed from: an error, not a crash.
// RUN: ssa-opt --tssa-lower %s --split-input-file --verify-diagnostics

func.func @base_of_unknown_rank(%x: !torch.vtensor) -> !torch.vtensor<[2],f32> {
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  %list = torch.prim.ListConstruct %int2 : (!torch.int) -> !torch.list<int>
  // expected-error @below {{unsupported: 'torch.aten.as_strided' of unknown rank, or without a size and a stride for each dimension}}
  %v = tssa.access "torch.aten.as_strided" %x[%list, %list, %int0 : !torch.list<int>, !torch.list<int>, !torch.int] : !torch.vtensor -> !torch.vtensor<[2],f32>
  return %v : !torch.vtensor<[2],f32>
}

// -----

func.func @view_of_unknown_rank(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor {
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  %list = torch.prim.ListConstruct %int2 : (!torch.int) -> !torch.list<int>
  // expected-error @below {{of unknown rank, or without a size and a stride}}
  %v = tssa.access "torch.aten.as_strided" %x[%list, %list, %int0 : !torch.list<int>, !torch.list<int>, !torch.int] : !torch.vtensor<[4],f32> -> !torch.vtensor
  return %v : !torch.vtensor
}

// -----

func.func @list_from_elsewhere(%x: !torch.vtensor<[4],f32>, %list: !torch.list<int>) -> !torch.vtensor<[2],f32> {
  %int0 = torch.constant.int 0
  // expected-error @below {{of unknown rank, or without a size and a stride}}
  %v = tssa.access "torch.aten.as_strided" %x[%list, %list, %int0 : !torch.list<int>, !torch.list<int>, !torch.int] : !torch.vtensor<[4],f32> -> !torch.vtensor<[2],f32>
  return %v : !torch.vtensor<[2],f32>
}

// -----

func.func @too_few_strides(%x: !torch.vtensor<[4],f32>, %s: !torch.vtensor<[2,2],f32>) -> !torch.vtensor<[4],f32> {
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  %sizes = torch.prim.ListConstruct %int2, %int2 : (!torch.int, !torch.int) -> !torch.list<int>
  %strides = torch.prim.ListConstruct %int2 : (!torch.int) -> !torch.list<int>
  // expected-error @below {{of unknown rank, or without a size and a stride}}
  %v = tssa.assign "torch.aten.as_strided" %x, %s[%sizes, %strides, %int0 : !torch.list<int>, !torch.list<int>, !torch.int] : !torch.vtensor<[4],f32>, !torch.vtensor<[2,2],f32>
  return %v : !torch.vtensor<[4],f32>
}

// -----

func.func @huge_strides(%x: !torch.vtensor<[4],f32>, %s: !torch.vtensor<[2,2],f32>) -> !torch.vtensor<[4],f32> {
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  %large = torch.constant.int 9223372036854775807
  %sizes = torch.prim.ListConstruct %int2, %int2 : (!torch.int, !torch.int) -> !torch.list<int>
  %strides = torch.prim.ListConstruct %large, %large : (!torch.int, !torch.int) -> !torch.list<int>
  // expected-error @below {{that may show one element several times}}
  %v = tssa.assign "torch.aten.as_strided" %x, %s[%sizes, %strides, %int0 : !torch.list<int>, !torch.list<int>, !torch.int] : !torch.vtensor<[4],f32>, !torch.vtensor<[2,2],f32>
  return %v : !torch.vtensor<[4],f32>
}

// -----

func.func @strides_of_the_run(%x: !torch.vtensor<[4],f32>, %s: !torch.vtensor<[2],f32>, %stride: !torch.int) -> !torch.vtensor<[4],f32> {
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  %sizes = torch.prim.ListConstruct %int2 : (!torch.int) -> !torch.list<int>
  %strides = torch.prim.ListConstruct %stride : (!torch.int) -> !torch.list<int>
  // expected-error @below {{that may show one element several times}}
  %v = tssa.assign "torch.aten.as_strided" %x, %s[%sizes, %strides, %int0 : !torch.list<int>, !torch.list<int>, !torch.int] : !torch.vtensor<[4],f32>, !torch.vtensor<[2],f32>
  return %v : !torch.vtensor<[4],f32>
}
