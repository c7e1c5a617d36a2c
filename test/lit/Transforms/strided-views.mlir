// as_strided of a tensor that fills its storage: elements at computed positions of the flat tensor.
// RUN: ssa-opt --tssa-lower --split-input-file %s | FileCheck %s

// CHECK-LABEL: func @access
// CHECK-SAME: (%[[X:.*]]: !torch.vtensor<[4,3],f32>
func.func @access(%x: !torch.vtensor<[4,3],f32>) -> !torch.vtensor<[2,2],f32> {
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %sizes = torch.prim.ListConstruct %int2, %int2 : (!torch.int, !torch.int) -> !torch.list<int>
  %strides = torch.prim.ListConstruct %int3, %int1 : (!torch.int, !torch.int) -> !torch.list<int>
  // CHECK: %[[ROWS:.*]] = torch.aten.mul.Scalar %{{.*}} : !torch.vtensor<[2],si64>, !torch.int -> !torch.vtensor<[2],si64>
  // CHECK: %[[COLUMNS:.*]] = torch.aten.mul.Scalar %{{.*}} : !torch.vtensor<[2],si64>, !torch.int -> !torch.vtensor<[2],si64>
  // CHECK: %[[COLUMN:.*]] = torch.aten.unsqueeze %[[ROWS]]
  // CHECK: %[[TABLE:.*]] = torch.aten.add.Tensor %[[COLUMN]], %[[COLUMNS]], %{{.*}} -> !torch.vtensor<[2,2],si64>
  // CHECK: %[[LIST:.*]] = torch.aten.view %[[TABLE]], %{{.*}} -> !torch.vtensor<[4],si64>
  // CHECK: %[[POSITIONS:.*]] = torch.aten.add.Scalar %[[LIST]]
  // CHECK: %[[FLAT:.*]] = torch.aten.view %[[X]], %{{.*}} -> !torch.vtensor<[12],f32>
  // CHECK: %[[SEEN:.*]] = torch.aten.index_select %[[FLAT]], %{{.*}}, %[[POSITIONS]]
  // CHECK: %[[V:.*]] = torch.aten.view %[[SEEN]], %{{.*}} -> !torch.vtensor<[2,2],f32>
  // CHECK: return %[[V]]
  %v = tssa.access "torch.aten.as_strided" %x[%sizes, %strides, %int1 : !torch.list<int>, !torch.list<int>, !torch.int] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[2,2],f32>
  return %v : !torch.vtensor<[2,2],f32>
}

// -----

// CHECK-LABEL: func @assign
// CHECK-SAME: (%[[X:.*]]: !torch.vtensor<[4,3],f32>, %[[S:.*]]: !torch.vtensor<[2],f32>
func.func @assign(%x: !torch.vtensor<[4,3],f32>, %s: !torch.vtensor<[2],f32>, %at: !torch.int) -> !torch.vtensor<[4,3],f32> {
  %int2 = torch.constant.int 2
  %int5 = torch.constant.int 5
  %sizes = torch.prim.ListConstruct %int2 : (!torch.int) -> !torch.list<int>
  %strides = torch.prim.ListConstruct %int5 : (!torch.int) -> !torch.list<int>
  // CHECK: %[[POSITIONS:.*]] = torch.aten.add.Scalar
  // CHECK: %[[FLAT:.*]] = torch.aten.view %[[X]]
  // CHECK: %[[SOURCE:.*]] = torch.aten.view %[[S]]
  // CHECK: %[[R:.*]] = torch.aten.scatter.src %[[FLAT]], %{{.*}}, %[[POSITIONS]], %[[SOURCE]]
  // CHECK: %[[B:.*]] = torch.aten.view %[[R]], %{{.*}} -> !torch.vtensor<[4,3],f32>
  // CHECK: return %[[B]]
  %b = tssa.assign "torch.aten.as_strided" %x, %s[%sizes, %strides, %at : !torch.list<int>, !torch.list<int>, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[2],f32>
  return %b : !torch.vtensor<[4,3],f32>
}

// -----

// Rows that interleave without overlap, and a dynamic number of rows.
// CHECK-LABEL: func @no_overlap
func.func @no_overlap(%x: !torch.vtensor<[12],f32>, %s: !torch.vtensor<[3,2],f32>, %t: !torch.vtensor<[?,2],f32>, %n: !torch.int) -> !torch.vtensor<[12],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %sizes = torch.prim.ListConstruct %int3, %int2 : (!torch.int, !torch.int) -> !torch.list<int>
  %strides = torch.prim.ListConstruct %int2, %int3 : (!torch.int, !torch.int) -> !torch.list<int>
  // CHECK-COUNT-2: torch.aten.scatter.src
  %b = tssa.assign "torch.aten.as_strided" %x, %s[%sizes, %strides, %int0 : !torch.list<int>, !torch.list<int>, !torch.int] : !torch.vtensor<[12],f32>, !torch.vtensor<[3,2],f32>
  %rows = torch.prim.ListConstruct %n, %int2 : (!torch.int, !torch.int) -> !torch.list<int>
  %steps = torch.prim.ListConstruct %int3, %int1 : (!torch.int, !torch.int) -> !torch.list<int>
  %c = tssa.assign "torch.aten.as_strided" %b, %t[%rows, %steps, %int0 : !torch.list<int>, !torch.list<int>, !torch.int] : !torch.vtensor<[12],f32>, !torch.vtensor<[?,2],f32>
  return %c : !torch.vtensor<[12],f32>
}

// -----

// CHECK-LABEL: func @complex
func.func @complex(%z: !torch.vtensor<[4],complex<f32>>, %s: !torch.vtensor<[4,2],f32>) -> !torch.vtensor<[4],complex<f32>> {
  // CHECK: torch.aten.view_as_complex %{{.*}} : !torch.vtensor<[4,2],f32> -> !torch.vtensor<[4],complex<f32>>
  %b = tssa.assign "torch.aten.view_as_real" %z, %s : !torch.vtensor<[4],complex<f32>>, !torch.vtensor<[4,2],f32>
  // CHECK: torch.operator "torch.aten._conj"(%{{.*}}) {tssa.schema = "aten::_conj(Tensor(a) self) -> Tensor(a)"}
  %c = tssa.assign "torch.aten._conj" %b, %z {schema = "aten::_conj(Tensor(a) self) -> Tensor(a)"} : !torch.vtensor<[4],complex<f32>>, !torch.vtensor<[4],complex<f32>>
  return %c : !torch.vtensor<[4],complex<f32>>
}
