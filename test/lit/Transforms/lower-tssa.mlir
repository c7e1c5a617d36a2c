// Each view's torch ops for reading it and for rebuilding its base.
// RUN: ssa-opt-test --tssa-lower %s | FileCheck %s

// The index may be any value of the program.
// CHECK-LABEL: func.func @select(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[3],f32>
// CHECK-SAME: %[[ARG2:[a-z0-9]+]]: !torch.int
// CHECK: %[[SELECT:.+]] = torch.aten.select.int %[[ARG0]], %int0, %[[ARG2]]
// CHECK: %[[SELECT_SCATTER:.+]] = torch.aten.select_scatter %[[ARG0]], %[[ARG1]], %int0, %[[ARG2]]
// CHECK: return %[[SELECT]], %[[SELECT_SCATTER]]
func.func @select(%b: !torch.vtensor<[4,3],f32>, %s: !torch.vtensor<[3],f32>, %i: !torch.int) -> (!torch.vtensor<[3],f32>, !torch.vtensor<[4,3],f32>) {
  %int0 = torch.constant.int 0
  %r = tssa.access "torch.aten.select.int" %b[%int0, %i : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[3],f32>
  %w = tssa.assign "torch.aten.select.int" %b, %s[%int0, %i : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
  return %r, %w : !torch.vtensor<[3],f32>, !torch.vtensor<[4,3],f32>
}

// All operands of the slice are those of the scatter.
// CHECK-LABEL: func.func @slice(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[2,3],f32>
// CHECK: %[[SLICE:.+]] = torch.aten.slice.Tensor %[[ARG0]], %int0, %int0, %int4, %int2
// CHECK: %[[SLICE_SCATTER:.+]] = torch.aten.slice_scatter %[[ARG0]], %[[ARG1]], %int0, %int0, %int4, %int2
// CHECK: return %[[SLICE]], %[[SLICE_SCATTER]]
func.func @slice(%b: !torch.vtensor<[4,3],f32>, %s: !torch.vtensor<[2,3],f32>) -> (!torch.vtensor<[2,3],f32>, !torch.vtensor<[4,3],f32>) {
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  %int4 = torch.constant.int 4
  %r = tssa.access "torch.aten.slice.Tensor" %b[%int0, %int0, %int4, %int2 : !torch.int, !torch.int, !torch.int, !torch.int] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[2,3],f32>
  %w = tssa.assign "torch.aten.slice.Tensor" %b, %s[%int0, %int0, %int4, %int2 : !torch.int, !torch.int, !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[2,3],f32>
  return %r, %w : !torch.vtensor<[2,3],f32>, !torch.vtensor<[4,3],f32>
}

// The end of the slice is the start plus the length.
// CHECK-LABEL: func.func @narrow(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[2,3],f32>
// CHECK: %[[NARROW:.+]] = torch.aten.narrow %[[ARG0]], %int0, %int1, %int2
// CHECK: %[[ADD:.+]] = torch.aten.add.int %int1, %int2
// CHECK: %[[SLICE_SCATTER:.+]] = torch.aten.slice_scatter %[[ARG0]], %[[ARG1]], %int0, %int1, %[[ADD]], %int1{{(_[0-9]+)?}}
// CHECK: return %[[NARROW]], %[[SLICE_SCATTER]]
func.func @narrow(%b: !torch.vtensor<[4,3],f32>, %s: !torch.vtensor<[2,3],f32>) -> (!torch.vtensor<[2,3],f32>, !torch.vtensor<[4,3],f32>) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %r = tssa.access "torch.aten.narrow" %b[%int0, %int1, %int2 : !torch.int, !torch.int, !torch.int] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[2,3],f32>
  %w = tssa.assign "torch.aten.narrow" %b, %s[%int0, %int1, %int2 : !torch.int, !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[2,3],f32>
  return %r, %w : !torch.vtensor<[2,3],f32>, !torch.vtensor<[4,3],f32>
}

// A start below 0 counts from the end: its sum with the length would be wrong as the
// end of a slice.
// CHECK-LABEL: func.func @narrow_at_dynamic_start(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[2,3],f32>
// CHECK-SAME: %[[ARG2:[a-z0-9]+]]: !torch.int
// CHECK: %[[NARROW:.+]] = torch.aten.narrow %[[ARG0]], %int0, %[[ARG2]], %int2
// CHECK: %[[LT:.+]] = torch.aten.lt.int %[[ARG2]], %int0{{(_[0-9]+)?}}
// CHECK: %[[BOOL:.+]] = torch.aten.Int.bool %[[LT]]
// CHECK: %[[MUL:.+]] = torch.aten.mul.int %[[BOOL]], %int4
// CHECK: %[[ADD:.+]] = torch.aten.add.int %[[ARG2]], %[[MUL]]
// CHECK: %[[ADD_2:.+]] = torch.aten.add.int %[[ADD]], %int2
// CHECK: %[[SLICE_SCATTER:.+]] = torch.aten.slice_scatter %[[ARG0]], %[[ARG1]], %int0, %[[ADD]], %[[ADD_2]], %int1
// CHECK: return %[[NARROW]], %[[SLICE_SCATTER]]
func.func @narrow_at_dynamic_start(%b: !torch.vtensor<[4,3],f32>, %s: !torch.vtensor<[2,3],f32>, %i: !torch.int) -> (!torch.vtensor<[2,3],f32>, !torch.vtensor<[4,3],f32>) {
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  %r = tssa.access "torch.aten.narrow" %b[%int0, %i, %int2 : !torch.int, !torch.int, !torch.int] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[2,3],f32>
  %w = tssa.assign "torch.aten.narrow" %b, %s[%int0, %i, %int2 : !torch.int, !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[2,3],f32>
  return %r, %w : !torch.vtensor<[2,3],f32>, !torch.vtensor<[4,3],f32>
}

// The new contents get the sizes of the base.
// CHECK-LABEL: func.func @view(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[12],f32>
// CHECK: %[[LISTCONSTRUCT:.+]] = torch.prim.ListConstruct %int12
// CHECK: %[[VIEW:.+]] = torch.aten.view %[[ARG0]], %[[LISTCONSTRUCT]]
// CHECK: %[[LISTCONSTRUCT_2:.+]] = torch.prim.ListConstruct %int4, %int3
// CHECK: %[[VIEW_2:.+]] = torch.aten.view %[[ARG1]], %[[LISTCONSTRUCT_2]]
// CHECK: return %[[VIEW]], %[[VIEW_2]]
func.func @view(%b: !torch.vtensor<[4,3],f32>, %s: !torch.vtensor<[12],f32>) -> (!torch.vtensor<[12],f32>, !torch.vtensor<[4,3],f32>) {
  %int12 = torch.constant.int 12
  %list = torch.prim.ListConstruct %int12 : (!torch.int) -> !torch.list<int>
  %r = tssa.access "torch.aten.view" %b[%list : !torch.list<int>] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[12],f32>
  %w = tssa.assign "torch.aten.view" %b, %s[%list : !torch.list<int>] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[12],f32>
  return %r, %w : !torch.vtensor<[12],f32>, !torch.vtensor<[4,3],f32>
}

// Dynamic sizes are those of the base, not of the source.
// CHECK-LABEL: func.func @view_of_dynamic_size(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[?,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[?],f32>
// CHECK: %[[LISTCONSTRUCT:.+]] = torch.prim.ListConstruct %int-1
// CHECK: %[[VIEW:.+]] = torch.aten.view %[[ARG0]], %[[LISTCONSTRUCT]]
// CHECK: %[[SIZE:.+]] = torch.aten.size.int %[[ARG0]], %int0
// CHECK: %[[LISTCONSTRUCT_2:.+]] = torch.prim.ListConstruct %[[SIZE]], %int3
// CHECK: %[[VIEW_2:.+]] = torch.aten.view %[[ARG1]], %[[LISTCONSTRUCT_2]]
// CHECK: return %[[VIEW]], %[[VIEW_2]]
func.func @view_of_dynamic_size(%b: !torch.vtensor<[?,3],f32>, %s: !torch.vtensor<[?],f32>) -> (!torch.vtensor<[?],f32>, !torch.vtensor<[?,3],f32>) {
  %int-1 = torch.constant.int -1
  %list = torch.prim.ListConstruct %int-1 : (!torch.int) -> !torch.list<int>
  %r = tssa.access "torch.aten.view" %b[%list : !torch.list<int>] : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?],f32>
  %w = tssa.assign "torch.aten.view" %b, %s[%list : !torch.list<int>] : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?],f32>
  return %r, %w : !torch.vtensor<[?],f32>, !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @flatten(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[12],f32>
// CHECK: %[[FLATTEN:.+]] = torch.aten.flatten.using_ints %[[ARG0]], %int0, %int1
// CHECK: %[[LISTCONSTRUCT:.+]] = torch.prim.ListConstruct %int4, %int3
// CHECK: %[[VIEW:.+]] = torch.aten.view %[[ARG1]], %[[LISTCONSTRUCT]]
// CHECK: return %[[FLATTEN]], %[[VIEW]]
func.func @flatten(%b: !torch.vtensor<[4,3],f32>, %s: !torch.vtensor<[12],f32>) -> (!torch.vtensor<[12],f32>, !torch.vtensor<[4,3],f32>) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %r = tssa.access "torch.aten.flatten.using_ints" %b[%int0, %int1 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[12],f32>
  %w = tssa.assign "torch.aten.flatten.using_ints" %b, %s[%int0, %int1 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[12],f32>
  return %r, %w : !torch.vtensor<[12],f32>, !torch.vtensor<[4,3],f32>
}

// A transposition undoes itself.
// CHECK-LABEL: func.func @transpose(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[3,4],f32>
// CHECK: %[[TRANSPOSE:.+]] = torch.aten.transpose.int %[[ARG0]], %int0, %int1
// CHECK: %[[TRANSPOSE_2:.+]] = torch.aten.transpose.int %[[ARG1]], %int0, %int1
// CHECK: return %[[TRANSPOSE]], %[[TRANSPOSE_2]]
func.func @transpose(%b: !torch.vtensor<[4,3],f32>, %s: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>, !torch.vtensor<[4,3],f32>) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %r = tssa.access "torch.aten.transpose.int" %b[%int0, %int1 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[3,4],f32>
  %w = tssa.assign "torch.aten.transpose.int" %b, %s[%int0, %int1 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3,4],f32>
  return %r, %w : !torch.vtensor<[3,4],f32>, !torch.vtensor<[4,3],f32>
}

// CHECK-LABEL: func.func @t(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[3,4],f32>
// CHECK: %[[T:.+]] = torch.aten.t %[[ARG0]]
// CHECK: %[[T_2:.+]] = torch.aten.t %[[ARG1]]
// CHECK: return %[[T]], %[[T_2]]
func.func @t(%b: !torch.vtensor<[4,3],f32>, %s: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>, !torch.vtensor<[4,3],f32>) {
  %r = tssa.access "torch.aten.t" %b : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[3,4],f32>
  %w = tssa.assign "torch.aten.t" %b, %s : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3,4],f32>
  return %r, %w : !torch.vtensor<[3,4],f32>, !torch.vtensor<[4,3],f32>
}

// The inverse permutation, which is not the permutation itself; dimensions may be negative.
// CHECK-LABEL: func.func @permute(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[2,3,4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[3,4,2],f32>
// CHECK: %[[LISTCONSTRUCT:.+]] = torch.prim.ListConstruct %int1, %int-1, %int0
// CHECK: %[[PERMUTE:.+]] = torch.aten.permute %[[ARG0]], %[[LISTCONSTRUCT]]
// CHECK: %[[LISTCONSTRUCT_2:.+]] = torch.prim.ListConstruct %int2, %int0{{(_[0-9]+)?}}, %int1{{(_[0-9]+)?}}
// CHECK: %[[PERMUTE_2:.+]] = torch.aten.permute %[[ARG1]], %[[LISTCONSTRUCT_2]]
// CHECK: return %[[PERMUTE]], %[[PERMUTE_2]]
func.func @permute(%b: !torch.vtensor<[2,3,4],f32>, %s: !torch.vtensor<[3,4,2],f32>) -> (!torch.vtensor<[3,4,2],f32>, !torch.vtensor<[2,3,4],f32>) {
  %int1 = torch.constant.int 1
  %int-1 = torch.constant.int -1
  %int0 = torch.constant.int 0
  %list = torch.prim.ListConstruct %int1, %int-1, %int0 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %r = tssa.access "torch.aten.permute" %b[%list : !torch.list<int>] : !torch.vtensor<[2,3,4],f32> -> !torch.vtensor<[3,4,2],f32>
  %w = tssa.assign "torch.aten.permute" %b, %s[%list : !torch.list<int>] : !torch.vtensor<[2,3,4],f32>, !torch.vtensor<[3,4,2],f32>
  return %r, %w : !torch.vtensor<[3,4,2],f32>, !torch.vtensor<[2,3,4],f32>
}

// CHECK-LABEL: func.func @unsqueeze(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[4,1],f32>
// CHECK: %[[UNSQUEEZE:.+]] = torch.aten.unsqueeze %[[ARG0]], %int-1
// CHECK: %[[SQUEEZE:.+]] = torch.aten.squeeze.dim %[[ARG1]], %int-1
// CHECK: return %[[UNSQUEEZE]], %[[SQUEEZE]]
func.func @unsqueeze(%b: !torch.vtensor<[4],f32>, %s: !torch.vtensor<[4,1],f32>) -> (!torch.vtensor<[4,1],f32>, !torch.vtensor<[4],f32>) {
  %int-1 = torch.constant.int -1
  %r = tssa.access "torch.aten.unsqueeze" %b[%int-1 : !torch.int] : !torch.vtensor<[4],f32> -> !torch.vtensor<[4,1],f32>
  %w = tssa.assign "torch.aten.unsqueeze" %b, %s[%int-1 : !torch.int] : !torch.vtensor<[4],f32>, !torch.vtensor<[4,1],f32>
  return %r, %w : !torch.vtensor<[4,1],f32>, !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @squeeze_dim(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,1],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK: %[[SQUEEZE:.+]] = torch.aten.squeeze.dim %[[ARG0]], %int1
// CHECK: %[[UNSQUEEZE:.+]] = torch.aten.unsqueeze %[[ARG1]], %int1
// CHECK: return %[[SQUEEZE]], %[[UNSQUEEZE]]
func.func @squeeze_dim(%b: !torch.vtensor<[4,1],f32>, %s: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4,1],f32>) {
  %int1 = torch.constant.int 1
  %r = tssa.access "torch.aten.squeeze.dim" %b[%int1 : !torch.int] : !torch.vtensor<[4,1],f32> -> !torch.vtensor<[4],f32>
  %w = tssa.assign "torch.aten.squeeze.dim" %b, %s[%int1 : !torch.int] : !torch.vtensor<[4,1],f32>, !torch.vtensor<[4],f32>
  return %r, %w : !torch.vtensor<[4],f32>, !torch.vtensor<[4,1],f32>
}

// The dimension is not 1, so that nothing was dropped.
// CHECK-LABEL: func.func @squeeze_dim_that_stays(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-NOT: unsqueeze
// CHECK: %[[SQUEEZE:.+]] = torch.aten.squeeze.dim %[[ARG0]], %int1
// CHECK: %[[LISTCONSTRUCT:.+]] = torch.prim.ListConstruct %int4, %int3
// CHECK: %[[VIEW:.+]] = torch.aten.view %[[ARG1]], %[[LISTCONSTRUCT]]
// CHECK-NOT: unsqueeze
// CHECK: return %[[SQUEEZE]], %[[VIEW]]
func.func @squeeze_dim_that_stays(%b: !torch.vtensor<[4,3],f32>, %s: !torch.vtensor<[4,3],f32>) -> (!torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>) {
  %int1 = torch.constant.int 1
  %r = tssa.access "torch.aten.squeeze.dim" %b[%int1 : !torch.int] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[4,3],f32>
  %w = tssa.assign "torch.aten.squeeze.dim" %b, %s[%int1 : !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>
  return %r, %w : !torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>
}

// Every element is shown once: the write has a meaning.
// CHECK-LABEL: func.func @expand_without_repetition(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[1,4],f32>
// CHECK: %[[LISTCONSTRUCT:.+]] = torch.prim.ListConstruct %int1, %int4
// CHECK: %[[EXPAND:.+]] = torch.aten.expand %[[ARG0]], %[[LISTCONSTRUCT]], %false
// CHECK: %[[LISTCONSTRUCT_2:.+]] = torch.prim.ListConstruct %int4{{(_[0-9]+)?}}
// CHECK: %[[VIEW:.+]] = torch.aten.view %[[ARG1]], %[[LISTCONSTRUCT_2]]
// CHECK: return %[[EXPAND]], %[[VIEW]]
func.func @expand_without_repetition(%b: !torch.vtensor<[4],f32>, %s: !torch.vtensor<[1,4],f32>) -> (!torch.vtensor<[1,4],f32>, !torch.vtensor<[4],f32>) {
  %int1 = torch.constant.int 1
  %int4 = torch.constant.int 4
  %false = torch.constant.bool false
  %list = torch.prim.ListConstruct %int1, %int4 : (!torch.int, !torch.int) -> !torch.list<int>
  %r = tssa.access "torch.aten.expand" %b[%list, %false : !torch.list<int>, !torch.bool] : !torch.vtensor<[4],f32> -> !torch.vtensor<[1,4],f32>
  %w = tssa.assign "torch.aten.expand" %b, %s[%list, %false : !torch.list<int>, !torch.bool] : !torch.vtensor<[4],f32>, !torch.vtensor<[1,4],f32>
  return %r, %w : !torch.vtensor<[1,4],f32>, !torch.vtensor<[4],f32>
}

// A repetition that happens no time shows nothing.
// CHECK-LABEL: func.func @expand_to_nothing(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[1,4],f32>
// CHECK-NOT: torch.aten
// CHECK: return %[[ARG0]]
func.func @expand_to_nothing(%b: !torch.vtensor<[1,4],f32>, %s: !torch.vtensor<[0,4],f32>) -> !torch.vtensor<[1,4],f32> {
  %int0 = torch.constant.int 0
  %int4 = torch.constant.int 4
  %false = torch.constant.bool false
  %list = torch.prim.ListConstruct %int0, %int4 : (!torch.int, !torch.int) -> !torch.list<int>
  %w = tssa.assign "torch.aten.expand" %b, %s[%list, %false : !torch.list<int>, !torch.bool] : !torch.vtensor<[1,4],f32>, !torch.vtensor<[0,4],f32>
  return %w : !torch.vtensor<[1,4],f32>
}

// A diagonal has no scatter op that compiles: the positions that it shows are scattered to.
// CHECK-LABEL: func.func @generic_model(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[3],f32>
// CHECK: %[[DIAGONAL:.+]] = torch.aten.diagonal %[[ARG0]], %int0, %int0, %int1
// CHECK: %[[LISTCONSTRUCT:.+]] = torch.prim.ListConstruct %int-1
// CHECK: %[[ARANGE:.+]] = torch.aten.arange %int12, %int4, %none, %none, %none
// CHECK: %[[LISTCONSTRUCT_2:.+]] = torch.prim.ListConstruct %int4{{(_[0-9]+)?}}, %int3
// CHECK: %[[VIEW:.+]] = torch.aten.view %[[ARANGE]], %[[LISTCONSTRUCT_2]]
// CHECK: %[[DIAGONAL_2:.+]] = torch.aten.diagonal %[[VIEW]], %int0, %int0, %int1
// CHECK: %[[RESHAPE:.+]] = torch.aten.reshape %[[ARG0]], %[[LISTCONSTRUCT]]
// CHECK: %[[RESHAPE_2:.+]] = torch.aten.reshape %[[DIAGONAL_2]], %[[LISTCONSTRUCT]]
// CHECK: %[[RESHAPE_3:.+]] = torch.aten.reshape %[[ARG1]], %[[LISTCONSTRUCT]]
// CHECK: %[[SCATTER:.+]] = torch.aten.scatter.src %[[RESHAPE]], %int0{{(_[0-9]+)?}}, %[[RESHAPE_2]], %[[RESHAPE_3]]
// CHECK: %[[LISTCONSTRUCT_3:.+]] = torch.prim.ListConstruct %int4{{(_[0-9]+)?}}, %int3{{(_[0-9]+)?}}
// CHECK: %[[VIEW_2:.+]] = torch.aten.view %[[SCATTER]], %[[LISTCONSTRUCT_3]]
// CHECK: return %[[DIAGONAL]], %[[VIEW_2]]
func.func @generic_model(%b: !torch.vtensor<[4,3],f32>, %s: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[3],f32>, !torch.vtensor<[4,3],f32>) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %r = tssa.access "torch.aten.diagonal" %b[%int0, %int0, %int1 : !torch.int, !torch.int, !torch.int] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[3],f32>
  %w = tssa.assign "torch.aten.diagonal" %b, %s[%int0, %int0, %int1 : !torch.int, !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
  return %r, %w : !torch.vtensor<[3],f32>, !torch.vtensor<[4,3],f32>
}

// Views that torch-mlir does not register keep their schema.
// CHECK-LABEL: func.func @view_with_schema(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK: %[[OPERATOR:.+]] = torch.operator "torch.test.last_column"(%[[ARG0]]) {tssa.schema = "test::last_column(Tensor(a) self) -> Tensor(a)"}
// CHECK: return %[[OPERATOR]]
func.func @view_with_schema(%b: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %r = tssa.access "torch.test.last_column" %b {schema = "test::last_column(Tensor(a) self) -> Tensor(a)"} : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}

// What may alias its operands, as an element that a list holds, is the plain op.
// CHECK-LABEL: func.func @aliasing(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[?,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[3],f32>
// CHECK-NEXT: %[[INT0:.+]] = torch.constant.int 0
// CHECK-NEXT: %[[PUT:.+]] = torch.aten.select_scatter %[[ARG0]], %[[ARG1]], %[[INT0]], %[[INT0]]
// CHECK-NEXT: return %[[PUT]]
func.func @aliasing(%b: !torch.vtensor<[?,3],f32>, %s: !torch.vtensor<[3],f32>) -> !torch.vtensor<[?,3],f32> {
  %int0 = torch.constant.int 0
  %r = torch.operator "torch.aliasing.aten.select_scatter"(%b, %s, %int0, %int0) {tssa.held_by = "a list", tssa.schema = "aliasing::aten.select_scatter(Tensor(a) self, Tensor(a) src, int dim, SymInt index) -> Tensor(a)"} : (!torch.vtensor<[?,3],f32>, !torch.vtensor<[3],f32>, !torch.int, !torch.int) -> !torch.vtensor<[?,3],f32>
  return %r : !torch.vtensor<[?,3],f32>
}

// Of other namespaces nothing is known.
// CHECK-LABEL: func.func @other_namespace(
// CHECK: torch.operator "torch.mine.aten.select_scatter"
func.func @other_namespace(%b: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
  %r = torch.operator "torch.mine.aten.select_scatter"(%b) : (!torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32>
  return %r : !torch.vtensor<[3],f32>
}
