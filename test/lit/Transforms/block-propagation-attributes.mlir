// An op that is rebuilt with more results keeps what was attached to it.
// RUN: ssa-opt --tssa-block-propagation %s | FileCheck %s

// CHECK-LABEL: func.func @branch(
// CHECK: scf.if %{{.+}} -> (!torch.vtensor<[4],f32>)
// CHECK: } {note = "kept"}
func.func @branch(%a: !torch.vtensor<[4],f32>, %c: i1) {
  scf.if %c {
    %n = torch.aten.neg %a : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
    tssa.update %n of %a : !torch.vtensor<[4],f32>
  } {note = "kept"}
  return
}
