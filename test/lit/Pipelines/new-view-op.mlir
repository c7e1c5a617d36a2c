// Adding a view op means one view model: these two live in test/lib/TestViewOps.cpp
// and no pass knows their names.
// RUN: ssa-opt-test --convert-to-tensorssa %s | FileCheck %s

// A view with a model of its own, written in a loop, while the loop reads the base.
// CHECK-LABEL: func.func @reverse_rows(
// CHECK: scf.for {{.*}} iter_args(%[[A:.+]] = %{{.+}}) ->
// CHECK-DAG: %[[ROW:.+]] = torch.aten.select.int %[[A]], %int0, %[[I:.+]] :
// CHECK-DAG: %[[REVERSED:.+]] = torch.aten.flip %[[A]],
// CHECK: %[[WRITTEN:.+]] = torch.aten.select_scatter %[[REVERSED]], %[[ROW]], %int0, %[[I]] :
// CHECK: %[[A1:.+]] = torch.aten.flip %[[WRITTEN]],
// CHECK: scf.yield %[[A1]]
func.func @reverse_rows(%x: !torch.tensor<[4,3],f32>, %n: index) -> !torch.tensor<[4,3],f32> {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %int0 = torch.constant.int 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = torch.aten.clone %x, %none : !torch.tensor<[4,3],f32>, !torch.none -> !torch.tensor<[4,3],f32>
  %r = torch.operator "torch.test.reverse_rows"(%a) {tssa.schema = "test::reverse_rows(Tensor(a) self) -> Tensor(a)"} : (!torch.tensor<[4,3],f32>) -> !torch.tensor<[4,3],f32>
  scf.for %index = %c0 to %n step %c1 {
    %i64 = arith.index_cast %index : index to i64
    %i = torch_c.from_i64 %i64
    %row = torch.aten.select.int %a, %int0, %i : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
    %slot = torch.aten.select.int %r, %int0, %i : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
    %w = torch.aten.copy_ %slot, %row, %false : !torch.tensor<[3],f32>, !torch.tensor<[3],f32>, !torch.bool -> !torch.tensor<[3],f32>
  }
  return %a : !torch.tensor<[4,3],f32>
}

// A view that has only the generic model: its elements are scattered to the positions
// that it shows of `arange(12)`.
// CHECK-LABEL: func.func @last_column(
// CHECK: scf.for {{.*}} iter_args(%[[X:.+]] = %{{.+}}) ->
// CHECK: %[[COLUMN:.+]] = torch.aten.select.int %[[X]], %int1,
// CHECK: %[[SEEN:.+]] = torch.operator "torch.test.last_column"(%{{.+}}) {tssa.schema = "test::last_column(Tensor(a) self) -> Tensor(a)"} : (!torch.vtensor<[4,3],si64>) -> !torch.vtensor<[4],si64>
// CHECK: %[[POSITIONS:.+]] = torch.aten.reshape %[[SEEN]],
// CHECK: %[[SOURCE:.+]] = torch.aten.reshape %[[COLUMN]],
// CHECK: %[[SCATTERED:.+]] = torch.aten.scatter.src %{{.+}}, %int0, %[[POSITIONS]], %[[SOURCE]]
// CHECK: %[[X1:.+]] = torch.aten.view %[[SCATTERED]],
// CHECK: scf.yield %[[X1]]
func.func @last_column(%x: !torch.tensor<[4,3],f32>, %n: index) {
  %false = torch.constant.bool false
  %int1 = torch.constant.int 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = torch.operator "torch.test.last_column"(%x) {tssa.schema = "test::last_column(Tensor(a) self) -> Tensor(a)"} : (!torch.tensor<[4,3],f32>) -> !torch.tensor<[4],f32>
  scf.for %index = %c0 to %n step %c1 {
    %i64 = arith.index_cast %index : index to i64
    %i = torch_c.from_i64 %i64
    %column = torch.aten.select.int %x, %int1, %i : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[4],f32>
    %w = torch.aten.copy_ %v, %column, %false : !torch.tensor<[4],f32>, !torch.tensor<[4],f32>, !torch.bool -> !torch.tensor<[4],f32>
  }
  return
}

// An operator of the same family without a model is not taken for a view.
// CHECK-LABEL: func.func @no_view(
// CHECK: %[[R:.+]] = torch.operator "torch.test.first_column"(%{{.+}})
// CHECK: %[[NEG:.+]] = torch.aten.neg %[[R]]
// CHECK: return %[[NEG]]
func.func @no_view(%x: !torch.tensor<[4,3],f32>) -> !torch.tensor<[4],f32> {
  %v = torch.operator "torch.test.first_column"(%x) {tssa.schema = "test::first_column(Tensor self) -> Tensor"} : (!torch.tensor<[4,3],f32>) -> !torch.tensor<[4],f32>
  %w = torch.aten.neg_ %v : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  return %v : !torch.tensor<[4],f32>
}
