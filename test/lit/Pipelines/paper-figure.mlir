// The running example of FuncTs (DAC'24, figure 3) after each of the four steps of
// TensorSSA conversion:
//
//     b = a.clone()
//     for i in range(n):
//         b[i] = b[i] + 1
//     return b
//
// RUN: ssa-opt %s --tssa-rewrite-mutation | FileCheck %s --check-prefix=REWRITE
// RUN: ssa-opt %s --tssa-rewrite-mutation --tssa-block-propagation | FileCheck %s --check-prefix=PROPAGATE
// RUN: ssa-opt %s --tssa-rewrite-mutation --tssa-block-propagation --tssa-rename | FileCheck %s --check-prefix=RENAME
// RUN: ssa-opt %s --tssa-rewrite-mutation --tssa-block-propagation --tssa-rename --tssa-remove-update | FileCheck %s --check-prefix=REMOVE
// RUN: ssa-opt %s --convert-to-tensorssa | FileCheck %s --check-prefix=FINAL

// 1. The write is an assign to %b, and the loop says that %b has a new version.
// REWRITE-LABEL: func.func @main(
// REWRITE: %[[B:.+]] = torch.aten.clone
// REWRITE: scf.for %[[INDEX:.+]] = {{.*}} {
// REWRITE: %[[I:.+]] = torch_c.from_i64
// REWRITE: %[[ROW:.+]] = tssa.access "torch.aten.select.int" %[[B]][%int0, %[[I]]
// REWRITE: %[[SUM:.+]] = torch.aten.add.Scalar %[[ROW]], %int1, %int1
// REWRITE: %[[OLD:.+]] = tssa.access "torch.aten.select.int" %[[B]][%int0, %[[I]]
// REWRITE: %[[NEW:.+]] = torch.aten.copy %[[OLD]], %[[SUM]], %false
// REWRITE: %[[B1:.+]] = tssa.assign "torch.aten.select.int" %[[B]], %[[NEW]][%int0, %[[I]]
// REWRITE: tssa.update %[[B1]] of %[[B]]
// REWRITE-NEXT: }
// REWRITE: return %[[B]]

// 2. The loop carries %b and yields it.
// PROPAGATE-LABEL: func.func @main(
// PROPAGATE: %[[B:.+]] = torch.aten.clone
// PROPAGATE: %[[RESULT:.+]] = scf.for {{.*}} iter_args(%[[CARRIED:.+]] = %[[B]]) -> (!torch.vtensor<[4,3],f32>)
// PROPAGATE-NEXT: tssa.update %[[CARRIED]] of %[[B]]
// PROPAGATE: %[[B1:.+]] = tssa.assign "torch.aten.select.int" %[[B]],
// PROPAGATE-NEXT: tssa.update %[[B1]] of %[[B]]
// PROPAGATE-NEXT: scf.yield %[[B]]
// PROPAGATE: tssa.update %[[RESULT]] of %[[B]]
// PROPAGATE: return %[[B]]

// 3. Each use of %b is a use of its newest version.
// RENAME-LABEL: func.func @main(
// RENAME: %[[B:.+]] = torch.aten.clone
// RENAME: %[[RESULT:.+]] = scf.for {{.*}} iter_args(%[[CARRIED:.+]] = %[[B]])
// RENAME: tssa.access "torch.aten.select.int" %[[CARRIED]][
// RENAME: tssa.access "torch.aten.select.int" %[[CARRIED]][
// RENAME: %[[B1:.+]] = tssa.assign "torch.aten.select.int" %[[CARRIED]],
// RENAME: tssa.update %[[B1]] of %[[B]]
// RENAME: scf.yield %[[B1]]
// RENAME: return %[[RESULT]]

// 4. The updates have done their work.
// REMOVE-LABEL: func.func @main(
// REMOVE-NOT: tssa.update
// REMOVE: return

// And as torch ops: the loop is still a loop, one row is read and one is written.
// FINAL-LABEL: func.func @main(
// FINAL-SAME: %[[A:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// FINAL: %[[RESULT:.+]] = scf.for {{.*}} iter_args(%[[CARRIED:.+]] = %[[A]])
// FINAL: cf.assert %{{.+}}, "IndexError: index is out of bounds for dimension 0 with size 4
// FINAL: %[[ROW:.+]] = torch.aten.select.int %[[CARRIED]], %int0, %[[I:.+]] :
// FINAL: %[[SUM:.+]] = torch.aten.add.Scalar %[[ROW]], %int1, %int1
// FINAL: %[[B1:.+]] = torch.aten.select_scatter %[[CARRIED]], %[[SUM]], %int0, %[[I]] :
// FINAL: scf.yield %[[B1]]
// FINAL: return %[[RESULT]]
func.func @main(%a: !torch.tensor<[4,3],f32>, %n: i64) -> !torch.tensor<[4,3],f32> {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %trips = arith.index_cast %n : i64 to index
  %b = torch.aten.clone %a, %none : !torch.tensor<[4,3],f32>, !torch.none -> !torch.tensor<[4,3],f32>
  scf.for %index = %c0 to %trips step %c1 {
    %i64 = arith.index_cast %index : index to i64
    %i = torch_c.from_i64 %i64
    %row = torch.aten.select.int %b, %int0, %i : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
    %sum = torch.aten.add.Scalar %row, %int1, %int1 : !torch.tensor<[3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
    %slot = torch.aten.select.int %b, %int0, %i : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
    %w = torch.aten.copy_ %slot, %sum, %false : !torch.tensor<[3],f32>, !torch.tensor<[3],f32>, !torch.bool -> !torch.tensor<[3],f32>
  }
  return %b : !torch.tensor<[4,3],f32>
}
