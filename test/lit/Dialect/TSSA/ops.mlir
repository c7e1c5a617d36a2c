// The ops print as they parse, also in the generic form.
// RUN: ssa-opt-test %s | ssa-opt-test | FileCheck %s
// RUN: ssa-opt-test %s --mlir-print-op-generic | ssa-opt-test | FileCheck %s

// CHECK-LABEL: func.func @access(
// CHECK: tssa.access "torch.aten.select.int" %{{.+}}[%{{.+}}, %{{.+}} : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[3],f32>
func.func @access(%b: !torch.vtensor<[4,3],f32>, %d: !torch.int, %i: !torch.int) -> !torch.vtensor<[3],f32> {
  %r = tssa.access "torch.aten.select.int" %b[%d, %i : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[3],f32>
  return %r : !torch.vtensor<[3],f32>
}

// CHECK-LABEL: func.func @access_without_operands(
// CHECK: tssa.access "torch.aten.t" %{{.+}} : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[3,4],f32>
func.func @access_without_operands(%b: !torch.vtensor<[4,3],f32>) -> !torch.vtensor<[3,4],f32> {
  %r = tssa.access "torch.aten.t" %b : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[3,4],f32>
  return %r : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @access_with_schema(
// CHECK: tssa.access "torch.test.last_column" %{{.+}} {schema = "test::last_column(Tensor(a) self) -> Tensor(a)"} :
func.func @access_with_schema(%b: !torch.vtensor<[4,3],f32>) -> !torch.vtensor<[4],f32> {
  %r = tssa.access "torch.test.last_column" %b {schema = "test::last_column(Tensor(a) self) -> Tensor(a)"} : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @assign(
// CHECK: tssa.assign "torch.aten.select.int" %{{.+}}, %{{.+}}[%{{.+}}, %{{.+}} : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
func.func @assign(%b: !torch.vtensor<[4,3],f32>, %s: !torch.vtensor<[3],f32>, %d: !torch.int, %i: !torch.int) -> !torch.vtensor<[4,3],f32> {
  %r = tssa.assign "torch.aten.select.int" %b, %s[%d, %i : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
  return %r : !torch.vtensor<[4,3],f32>
}

// CHECK-LABEL: func.func @update(
// CHECK: tssa.update %{{.+}} of %{{.+}} : !torch.vtensor<[4],f32>
func.func @update(%b: !torch.vtensor<[4],f32>, %s: !torch.vtensor<[4],f32>) {
  tssa.update %s of %b : !torch.vtensor<[4],f32>
  return
}
