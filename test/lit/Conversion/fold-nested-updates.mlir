// A store through a view of a view becomes one insertion into the tensor.
// RUN: ssa-opt --fold-nested-updates --cse %s --split-input-file | FileCheck %s

// `y[i, j] = v`. Negative indices count from the end.
// CHECK-LABEL: func.func @element(
// CHECK-SAME: %[[Y:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>, %[[V:[a-z0-9]+]]: !torch.vtensor<[],f32>, %[[I:[a-z0-9]+]]: i64
// CHECK-NOT: torch.aten
// CHECK-DAG: %[[VALUE:.+]] = torch_c.to_builtin_tensor %[[V]]
// CHECK-DAG: %[[BASE:.+]] = torch_c.to_builtin_tensor %[[Y]]
// CHECK: %[[NEGATIVE:.+]] = arith.cmpi slt, %[[I]], %{{.+}} : i64
// CHECK: %[[FLAG:.+]] = arith.extui %[[NEGATIVE]] : i1 to i64
// CHECK: %[[ADDED:.+]] = arith.muli %[[FLAG]], %c4_i64
// CHECK: %[[ROW:.+]] = arith.addi %[[I]], %[[ADDED]]
// CHECK: %[[INDEX:.+]] = arith.index_cast %{{.+}} : i64 to index
// CHECK: %[[PUT:.+]] = tensor.insert_slice %[[VALUE]] into %[[BASE]][%[[INDEX]], 2] [1, 1] [1, 1] : tensor<f32> into tensor<4x3xf32>
// CHECK: %[[NEW:.+]] = torch_c.from_builtin_tensor %[[PUT]]
// CHECK: return %[[NEW]]
func.func @element(%y: !torch.vtensor<[4,3],f32>, %v: !torch.vtensor<[],f32>, %i: i64) -> !torch.vtensor<[4,3],f32> {
  %int0 = torch.constant.int 0
  %int-1 = torch.constant.int -1
  %k = torch_c.from_i64 %i
  %row = torch.aten.select.int %y, %int0, %k : !torch.vtensor<[4,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[3],f32>
  %new = torch.aten.select_scatter %row, %v, %int0, %int-1 : !torch.vtensor<[3],f32>, !torch.vtensor<[],f32>, !torch.int, !torch.int -> !torch.vtensor<[3],f32>
  %y1 = torch.aten.select_scatter %y, %new, %int0, %k : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,3],f32>
  return %y1 : !torch.vtensor<[4,3],f32>
}

// -----

// A slice of a slice with steps: the places multiply, and ends are cut.
// CHECK-LABEL: func.func @steps(
// CHECK: tensor.insert_slice %{{.+}} into %{{.+}}[5] [2] [6] : tensor<2xf32> into tensor<12xf32>
func.func @steps(%y: !torch.vtensor<[12],f32>, %v: !torch.vtensor<[2],f32>) -> !torch.vtensor<[12],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %int100 = torch.constant.int 100
  %part = torch.aten.slice.Tensor %y, %int0, %int1, %int100, %int2 : !torch.vtensor<[12],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[6],f32>
  %new = torch.aten.slice_scatter %part, %v, %int0, %int2, %int100, %int3 : !torch.vtensor<[6],f32>, !torch.vtensor<[2],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[6],f32>
  %y1 = torch.aten.slice_scatter %y, %new, %int0, %int1, %int100, %int2 : !torch.vtensor<[12],f32>, !torch.vtensor<[6],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[12],f32>
  return %y1 : !torch.vtensor<[12],f32>
}

// -----

// Dimensions of size 1, added, dropped and inserted at, are nowhere.
// CHECK-LABEL: func.func @units(
// CHECK: tensor.insert_slice %{{.+}} into %{{.+}}[0, 1, 2] [1, 1, 1] [1, 1, 1] : tensor<f32> into tensor<1x3x4xf32>
func.func @units(%y: !torch.vtensor<[1,3,4],f32>, %v: !torch.vtensor<[1],f32>) -> !torch.vtensor<[1,3,4],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %row = torch.aten.select.int %y, %int1, %int1 : !torch.vtensor<[1,3,4],f32>, !torch.int, !torch.int -> !torch.vtensor<[1,4],f32>
  %flat = torch.aten.squeeze.dim %row, %int0 : !torch.vtensor<[1,4],f32>, !torch.int -> !torch.vtensor<[4],f32>
  %new = torch.aten.slice_scatter %flat, %v, %int0, %int2, %int3, %int1 : !torch.vtensor<[4],f32>, !torch.vtensor<[1],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[4],f32>
  %back = torch.aten.unsqueeze %new, %int0 : !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[1,4],f32>
  %y1 = torch.aten.select_scatter %y, %back, %int1, %int1 : !torch.vtensor<[1,3,4],f32>, !torch.vtensor<[1,4],f32>, !torch.int, !torch.int -> !torch.vtensor<[1,3,4],f32>
  return %y1 : !torch.vtensor<[1,3,4],f32>
}

// -----

// `cache.transpose(1, 2)[:, i] = v`: the cache is not transposed.
// CHECK-LABEL: func.func @transposed(
// CHECK-NOT: transpose
// CHECK: tensor.insert_slice %{{.+}} into %{{.+}}[0, 0, 5] [2, 3, 1] [1, 1, 1] : tensor<2x3xf32> into tensor<2x3x8xf32>
// CHECK-NOT: transpose
func.func @transposed(%y: !torch.vtensor<[2,3,8],f32>, %v: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3,8],f32> {
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int5 = torch.constant.int 5
  %t = torch.aten.transpose.int %y, %int1, %int2 : !torch.vtensor<[2,3,8],f32>, !torch.int, !torch.int -> !torch.vtensor<[2,8,3],f32>
  %new = torch.aten.select_scatter %t, %v, %int1, %int5 : !torch.vtensor<[2,8,3],f32>, !torch.vtensor<[2,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[2,8,3],f32>
  %y1 = torch.aten.transpose.int %new, %int1, %int2 : !torch.vtensor<[2,8,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[2,3,8],f32>
  return %y1 : !torch.vtensor<[2,3,8],f32>
}

// -----

// The values get the order of the base: permute(2, 0, 1) is undone by (1, 2, 0).
// CHECK-LABEL: func.func @permuted(
// CHECK-SAME: %{{.+}}, %[[V:[a-z0-9]+]]: !torch.vtensor<[2,2,3],f32>
// CHECK: %[[ORDER:.+]] = torch.prim.ListConstruct %int1{{.*}}, %int2{{.*}}, %int0
// CHECK: %[[VALUES:.+]] = torch.aten.permute %[[V]], %[[ORDER]] : {{.*}} -> !torch.vtensor<[2,3,2],f32>
// CHECK: %[[BUILTIN:.+]] = torch_c.to_builtin_tensor %[[VALUES]]
// CHECK: tensor.insert_slice %[[BUILTIN]] into %{{.+}}[0, 0, 1] [2, 3, 2] [1, 1, 1] : tensor<2x3x2xf32> into tensor<2x3x4xf32>
func.func @permuted(%y: !torch.vtensor<[2,3,4],f32>, %v: !torch.vtensor<[2,2,3],f32>) -> !torch.vtensor<[2,3,4],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %there = torch.prim.ListConstruct %int2, %int0, %int1 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %back = torch.prim.ListConstruct %int1, %int2, %int0 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %p = torch.aten.permute %y, %there : !torch.vtensor<[2,3,4],f32>, !torch.list<int> -> !torch.vtensor<[4,2,3],f32>
  %new = torch.aten.slice_scatter %p, %v, %int0, %int1, %int3, %int1 : !torch.vtensor<[4,2,3],f32>, !torch.vtensor<[2,2,3],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[4,2,3],f32>
  %y1 = torch.aten.permute %new, %back : !torch.vtensor<[4,2,3],f32>, !torch.list<int> -> !torch.vtensor<[2,3,4],f32>
  return %y1 : !torch.vtensor<[2,3,4],f32>
}

// -----

// Two stores to one row: two insertions, in order.
// CHECK-LABEL: func.func @two_stores(
// CHECK-SAME: %{{.+}}, %[[A:[a-z0-9]+]]: !torch.vtensor<[],f32>, %[[B:[a-z0-9]+]]: !torch.vtensor<[],f32>
// CHECK: %[[FIRST:.+]] = torch_c.to_builtin_tensor %[[A]]
// CHECK: %[[PUT:.+]] = tensor.insert_slice %[[FIRST]] into %{{.+}}[1, 0] [1, 1]
// CHECK: %[[SECOND:.+]] = torch_c.to_builtin_tensor %[[B]]
// CHECK: tensor.insert_slice %[[SECOND]] into %[[PUT]][1, 2] [1, 1]
// CHECK-NOT: torch.aten
func.func @two_stores(%y: !torch.vtensor<[4,3],f32>, %a: !torch.vtensor<[],f32>, %b: !torch.vtensor<[],f32>) -> !torch.vtensor<[4,3],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %row = torch.aten.select.int %y, %int0, %int1 : !torch.vtensor<[4,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[3],f32>
  %row1 = torch.aten.select_scatter %row, %a, %int0, %int0 : !torch.vtensor<[3],f32>, !torch.vtensor<[],f32>, !torch.int, !torch.int -> !torch.vtensor<[3],f32>
  %row2 = torch.aten.select_scatter %row1, %b, %int0, %int2 : !torch.vtensor<[3],f32>, !torch.vtensor<[],f32>, !torch.int, !torch.int -> !torch.vtensor<[3],f32>
  %y1 = torch.aten.select_scatter %y, %row2, %int0, %int1 : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,3],f32>
  return %y1 : !torch.vtensor<[4,3],f32>
}

// -----

// What reads the row after the store reads it in the new tensor.
// CHECK-LABEL: func.func @read_after(
// CHECK: %[[PUT:.+]] = tensor.insert_slice
// CHECK: %[[NEW:.+]] = torch_c.from_builtin_tensor %[[PUT]]
// CHECK: %[[ROW:.+]] = torch.aten.select.int %[[NEW]], %int0, %int1
// CHECK: torch.aten.tanh %[[ROW]]
func.func @read_after(%y: !torch.vtensor<[4,3],f32>, %v: !torch.vtensor<[],f32>) -> (!torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %row = torch.aten.select.int %y, %int0, %int1 : !torch.vtensor<[4,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[3],f32>
  %new = torch.aten.select_scatter %row, %v, %int0, %int0 : !torch.vtensor<[3],f32>, !torch.vtensor<[],f32>, !torch.int, !torch.int -> !torch.vtensor<[3],f32>
  %read = torch.aten.tanh %new : !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
  %y1 = torch.aten.select_scatter %y, %new, %int0, %int1 : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,3],f32>
  return %y1, %read : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
}

// -----

// Dynamic sizes.
// CHECK-LABEL: func.func @unknown_sizes(
// CHECK-SAME: %[[Y:[a-z0-9]+]]: !torch.vtensor<[?,?,3],f32>
// CHECK: %[[BASE:.+]] = torch_c.to_builtin_tensor %[[Y]]
// CHECK: %[[ROWS:.+]] = tensor.dim %[[BASE]], %{{.+}} : tensor<?x?x3xf32>
// CHECK: arith.index_cast %[[ROWS]]
// CHECK: %[[LENGTH:.+]] = tensor.dim %{{.+}}, %{{.+}} : tensor<?xf32>
// CHECK: tensor.insert_slice %{{.+}} into %[[BASE]][%{{.+}}, 0, 1] [1, %[[LENGTH]], 1] [1, 1, 1] : tensor<?xf32> into tensor<?x?x3xf32>
func.func @unknown_sizes(%y: !torch.vtensor<[?,?,3],f32>, %v: !torch.vtensor<[?],f32>, %i: i64) -> !torch.vtensor<[?,?,3],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %k = torch_c.from_i64 %i
  %row = torch.aten.select.int %y, %int0, %k : !torch.vtensor<[?,?,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[?,3],f32>
  %new = torch.aten.select_scatter %row, %v, %int1, %int1 : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?],f32>, !torch.int, !torch.int -> !torch.vtensor<[?,3],f32>
  %y1 = torch.aten.select_scatter %y, %new, %int0, %k : !torch.vtensor<[?,?,3],f32>, !torch.vtensor<[?,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[?,?,3],f32>
  return %y1 : !torch.vtensor<[?,?,3],f32>
}

// -----

// The changed row goes elsewhere: to another row, or comes from another tensor.
// CHECK-LABEL: func.func @elsewhere(
// CHECK-NOT: insert_slice
func.func @elsewhere(%y: !torch.vtensor<[4,3],f32>, %z: !torch.vtensor<[4,3],f32>, %v: !torch.vtensor<[],f32>) -> (!torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %row = torch.aten.select.int %y, %int0, %int1 : !torch.vtensor<[4,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[3],f32>
  %new = torch.aten.select_scatter %row, %v, %int0, %int0 : !torch.vtensor<[3],f32>, !torch.vtensor<[],f32>, !torch.int, !torch.int -> !torch.vtensor<[3],f32>
  %y1 = torch.aten.select_scatter %y, %new, %int0, %int2 : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,3],f32>
  %z1 = torch.aten.select_scatter %z, %new, %int0, %int1 : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,3],f32>
  return %y1, %z1 : !torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>
}

// -----

// The row is that of an older version: storing it back restores the rest of it.
// CHECK-LABEL: func.func @older_version(
// CHECK-NOT: insert_slice
func.func @older_version(%y: !torch.vtensor<[4,3],f32>, %v: !torch.vtensor<[],f32>, %w: !torch.vtensor<[3],f32>) -> !torch.vtensor<[4,3],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %row = torch.aten.select.int %y, %int0, %int1 : !torch.vtensor<[4,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[3],f32>
  %y1 = torch.aten.select_scatter %y, %w, %int0, %int1 : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,3],f32>
  %new = torch.aten.select_scatter %row, %v, %int0, %int0 : !torch.vtensor<[3],f32>, !torch.vtensor<[],f32>, !torch.int, !torch.int -> !torch.vtensor<[3],f32>
  %y2 = torch.aten.select_scatter %y1, %new, %int0, %int1 : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,3],f32>
  return %y2 : !torch.vtensor<[4,3],f32>
}

// -----

// The transpose of a square is a tensor of the same type, but not the same.
// CHECK-LABEL: func.func @transposed_once(
// CHECK-NOT: insert_slice
func.func @transposed_once(%y: !torch.vtensor<[3,3],f32>, %v: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3,3],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %new = torch.aten.select_scatter %y, %v, %int0, %int1 : !torch.vtensor<[3,3],f32>, !torch.vtensor<[3],f32>, !torch.int, !torch.int -> !torch.vtensor<[3,3],f32>
  %y1 = torch.aten.transpose.int %new, %int0, %int1 : !torch.vtensor<[3,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[3,3],f32>
  return %y1 : !torch.vtensor<[3,3],f32>
}

// -----

// A single store, and one through another shape, are what IREE compiles best.
// CHECK-LABEL: func.func @single(
// CHECK-NOT: insert_slice
func.func @single(%y: !torch.vtensor<[4,3],f32>, %v: !torch.vtensor<[1,3],f32>) -> !torch.vtensor<[4,3],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %u = torch.aten.unsqueeze %y, %int1 : !torch.vtensor<[4,3],f32>, !torch.int -> !torch.vtensor<[4,1,3],f32>
  %new = torch.aten.select_scatter %u, %v, %int0, %int1 : !torch.vtensor<[4,1,3],f32>, !torch.vtensor<[1,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,1,3],f32>
  %y1 = torch.aten.squeeze.dim %new, %int1 : !torch.vtensor<[4,1,3],f32>, !torch.int -> !torch.vtensor<[4,3],f32>
  return %y1 : !torch.vtensor<[4,3],f32>
}

// -----

// A change of shape that mixes dimensions shows no strided slice.
// CHECK-LABEL: func.func @reshaped_row(
// CHECK-NOT: insert_slice
func.func @reshaped_row(%y: !torch.vtensor<[4,6],f32>, %v: !torch.vtensor<[3],f32>) -> !torch.vtensor<[4,6],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %int6 = torch.constant.int 6
  %there = torch.prim.ListConstruct %int2, %int3 : (!torch.int, !torch.int) -> !torch.list<int>
  %back = torch.prim.ListConstruct %int6 : (!torch.int) -> !torch.list<int>
  %row = torch.aten.select.int %y, %int0, %int1 : !torch.vtensor<[4,6],f32>, !torch.int, !torch.int -> !torch.vtensor<[6],f32>
  %r = torch.aten.view %row, %there : !torch.vtensor<[6],f32>, !torch.list<int> -> !torch.vtensor<[2,3],f32>
  %new = torch.aten.select_scatter %r, %v, %int0, %int1 : !torch.vtensor<[2,3],f32>, !torch.vtensor<[3],f32>, !torch.int, !torch.int -> !torch.vtensor<[2,3],f32>
  %flat = torch.aten.view %new, %back : !torch.vtensor<[2,3],f32>, !torch.list<int> -> !torch.vtensor<[6],f32>
  %y1 = torch.aten.select_scatter %y, %flat, %int0, %int1 : !torch.vtensor<[4,6],f32>, !torch.vtensor<[6],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,6],f32>
  return %y1 : !torch.vtensor<[4,6],f32>
}

// -----

// Nothing is stored behind the last row.
// CHECK-LABEL: func.func @nothing(
// CHECK-SAME: %[[Y:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-NEXT: return %[[Y]]
func.func @nothing(%y: !torch.vtensor<[4,3],f32>, %v: !torch.vtensor<[0],f32>) -> !torch.vtensor<[4,3],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int4 = torch.constant.int 4
  %rows = torch.aten.slice.Tensor %y, %int0, %int4, %int4, %int1 : !torch.vtensor<[4,3],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[0,3],f32>
  %new = torch.aten.select_scatter %rows, %v, %int1, %int0 : !torch.vtensor<[0,3],f32>, !torch.vtensor<[0],f32>, !torch.int, !torch.int -> !torch.vtensor<[0,3],f32>
  %y1 = torch.aten.slice_scatter %y, %new, %int0, %int4, %int4, %int1 : !torch.vtensor<[4,3],f32>, !torch.vtensor<[0,3],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[4,3],f32>
  return %y1 : !torch.vtensor<[4,3],f32>
}

// -----

// What reads the view afterwards does so where the indices are known.
// CHECK-LABEL: func.func @nothing_and_read(
// CHECK-SAME: %[[Y:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK: %[[I:.+]] = torch_c.from_i64
// CHECK: %[[ROW:.+]] = torch.aten.select.int %[[Y]], %{{.+}}, %[[I]]
// CHECK: torch.aten.tanh %[[ROW]]
func.func @nothing_and_read(%y: !torch.vtensor<[4,3],f32>, %v: !torch.vtensor<[0],f32>, %i: i64) -> (!torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int3 = torch.constant.int 3
  %k = torch_c.from_i64 %i
  %row = torch.aten.select.int %y, %int0, %k : !torch.vtensor<[4,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[3],f32>
  %new = torch.aten.slice_scatter %row, %v, %int0, %int3, %int3, %int1 : !torch.vtensor<[3],f32>, !torch.vtensor<[0],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[3],f32>
  %read = torch.aten.tanh %new : !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
  %y1 = torch.aten.select_scatter %y, %new, %int0, %k : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,3],f32>
  return %y1, %read : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
}

// -----

// The row is changed in any case, and stored back in one only: a version of the
// tensor made in front of the branch would be one too many.
// CHECK-LABEL: func.func @across_blocks(
// CHECK-NOT: insert_slice
func.func @across_blocks(%y: !torch.vtensor<[4,3],f32>, %v: !torch.vtensor<[],f32>, %c: i1) -> (!torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %row = torch.aten.select.int %y, %int0, %int1 : !torch.vtensor<[4,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[3],f32>
  %new = torch.aten.select_scatter %row, %v, %int0, %int0 : !torch.vtensor<[3],f32>, !torch.vtensor<[],f32>, !torch.int, !torch.int -> !torch.vtensor<[3],f32>
  %r = scf.if %c -> (!torch.vtensor<[4,3],f32>) {
    %y1 = torch.aten.select_scatter %y, %new, %int0, %int1 : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,3],f32>
    scf.yield %y1 : !torch.vtensor<[4,3],f32>
  } else {
    scf.yield %y : !torch.vtensor<[4,3],f32>
  }
  return %r, %new : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
}

// -----

// An index that is known to be out of range raised before this is reached.
// CHECK-LABEL: func.func @out_of_range(
// CHECK: tensor.insert_slice %{{.+}} into %{{.+}}[3, 1] [1, 1] [1, 1]
func.func @out_of_range(%y: !torch.vtensor<[4,3],f32>, %v: !torch.vtensor<[],f32>) -> !torch.vtensor<[4,3],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int7 = torch.constant.int 7
  %row = torch.aten.select.int %y, %int0, %int7 : !torch.vtensor<[4,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[3],f32>
  %new = torch.aten.select_scatter %row, %v, %int0, %int1 : !torch.vtensor<[3],f32>, !torch.vtensor<[],f32>, !torch.int, !torch.int -> !torch.vtensor<[3],f32>
  %y1 = torch.aten.select_scatter %y, %new, %int0, %int7 : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,3],f32>
  return %y1 : !torch.vtensor<[4,3],f32>
}
