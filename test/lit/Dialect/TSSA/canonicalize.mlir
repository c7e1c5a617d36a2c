// Folds of access and assign.
// RUN: ssa-opt --canonicalize %s | FileCheck %s

// What was just assigned through a view is what the same view shows.
// CHECK-LABEL: func.func @access_of_assign(
// CHECK-SAME: %{{[a-z0-9]+}}: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[3],f32>
// CHECK: return %[[ARG1]]
func.func @access_of_assign(%b: !torch.vtensor<[4,3],f32>, %s: !torch.vtensor<[3],f32>, %i: !torch.int) -> !torch.vtensor<[3],f32> {
  %int0 = torch.constant.int 0
  %w = tssa.assign "torch.aten.select.int" %b, %s[%int0, %i : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
  %r = tssa.access "torch.aten.select.int" %w[%int0, %i : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[3],f32>
  return %r : !torch.vtensor<[3],f32>
}

// The other row may be the same one: %i may equal %j.
// CHECK-LABEL: func.func @access_of_assign_at_other_index(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[3],f32>
// CHECK-SAME: %[[ARG2:[a-z0-9]+]]: !torch.int
// CHECK-SAME: %[[ARG3:[a-z0-9]+]]: !torch.int
// CHECK: %[[ASSIGN:.+]] = tssa.assign "torch.aten.select.int" %[[ARG0]], %[[ARG1]][%int0, %[[ARG2]]
// CHECK: %[[ACCESS:.+]] = tssa.access "torch.aten.select.int" %[[ASSIGN]][%int0, %[[ARG3]]
// CHECK: return %[[ACCESS]]
func.func @access_of_assign_at_other_index(%b: !torch.vtensor<[4,3],f32>, %s: !torch.vtensor<[3],f32>, %i: !torch.int, %j: !torch.int) -> !torch.vtensor<[3],f32> {
  %int0 = torch.constant.int 0
  %w = tssa.assign "torch.aten.select.int" %b, %s[%int0, %i : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
  %r = tssa.access "torch.aten.select.int" %w[%int0, %j : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[3],f32>
  return %r : !torch.vtensor<[3],f32>
}

// Another row for sure: the assign makes no difference. -1 is row 3.
// CHECK-LABEL: func.func @access_of_assign_elsewhere(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK: %[[ACCESS:.+]] = tssa.access "torch.aten.select.int" %[[ARG0]][%int0, %int0
// CHECK: return %[[ACCESS]]
func.func @access_of_assign_elsewhere(%b: !torch.vtensor<[4,3],f32>, %s: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
  %int0 = torch.constant.int 0
  %int-1 = torch.constant.int -1
  %w = tssa.assign "torch.aten.select.int" %b, %s[%int0, %int-1 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
  %r = tssa.access "torch.aten.select.int" %w[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[3],f32>
  return %r : !torch.vtensor<[3],f32>
}

// One row, named twice: 3 and -1.
// CHECK-LABEL: func.func @access_of_assign_by_another_name(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[3],f32>
// CHECK: %[[ASSIGN:.+]] = tssa.assign "torch.aten.select.int" %[[ARG0]], %[[ARG1]][%int0, %int-1
// CHECK: %[[ACCESS:.+]] = tssa.access "torch.aten.select.int" %[[ASSIGN]][%int0, %int3
// CHECK: return %[[ACCESS]]
func.func @access_of_assign_by_another_name(%b: !torch.vtensor<[4,3],f32>, %s: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
  %int0 = torch.constant.int 0
  %int3 = torch.constant.int 3
  %int-1 = torch.constant.int -1
  %w = tssa.assign "torch.aten.select.int" %b, %s[%int0, %int-1 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
  %r = tssa.access "torch.aten.select.int" %w[%int0, %int3 : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[3],f32>
  return %r : !torch.vtensor<[3],f32>
}

// A row and a column cross.
// CHECK-LABEL: func.func @access_of_assign_along_other_dimension(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK: %[[ASSIGN:.+]] = tssa.assign "torch.aten.select.int" %[[ARG0]], %[[ARG1]][%int0, %int0
// CHECK: %[[ACCESS:.+]] = tssa.access "torch.aten.select.int" %[[ASSIGN]][%int1, %int1
// CHECK: return %[[ACCESS]]
func.func @access_of_assign_along_other_dimension(%b: !torch.vtensor<[4,4],f32>, %s: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %w = tssa.assign "torch.aten.select.int" %b, %s[%int0, %int0 : !torch.int, !torch.int] : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4],f32>
  %r = tssa.access "torch.aten.select.int" %w[%int1, %int1 : !torch.int, !torch.int] : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}

// Writing back what the view shows changes nothing.
// CHECK-LABEL: func.func @assign_of_access(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK: return %[[ARG0]]
func.func @assign_of_access(%b: !torch.vtensor<[4,3],f32>, %i: !torch.int) -> !torch.vtensor<[4,3],f32> {
  %int0 = torch.constant.int 0
  %r = tssa.access "torch.aten.select.int" %b[%int0, %i : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[3],f32>
  %w = tssa.assign "torch.aten.select.int" %b, %r[%int0, %i : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
  return %w : !torch.vtensor<[4,3],f32>
}

// The row of another tensor is news.
// CHECK-LABEL: func.func @assign_of_access_of_other_base(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %[[ARG2:[a-z0-9]+]]: !torch.int
// CHECK: %[[ACCESS:.+]] = tssa.access "torch.aten.select.int" %[[ARG0]][%int0, %[[ARG2]]
// CHECK: %[[ASSIGN:.+]] = tssa.assign "torch.aten.select.int" %[[ARG1]], %[[ACCESS]][%int0, %[[ARG2]]
// CHECK: return %[[ASSIGN]]
func.func @assign_of_access_of_other_base(%a: !torch.vtensor<[4,3],f32>, %b: !torch.vtensor<[4,3],f32>, %i: !torch.int) -> !torch.vtensor<[4,3],f32> {
  %int0 = torch.constant.int 0
  %r = tssa.access "torch.aten.select.int" %a[%int0, %i : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32> -> !torch.vtensor<[3],f32>
  %w = tssa.assign "torch.aten.select.int" %b, %r[%int0, %i : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
  return %w : !torch.vtensor<[4,3],f32>
}

// Of two assigns through one view the second wins.
// CHECK-LABEL: func.func @assign_of_assign(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %{{[a-z0-9]+}}: !torch.vtensor<[3],f32>
// CHECK-SAME: %[[ARG2:[a-z0-9]+]]: !torch.vtensor<[3],f32>
// CHECK-SAME: %[[ARG3:[a-z0-9]+]]: !torch.int
// CHECK: %[[ASSIGN:.+]] = tssa.assign "torch.aten.select.int" %[[ARG0]], %[[ARG2]][%int0, %[[ARG3]]
// CHECK: return %[[ASSIGN]]
func.func @assign_of_assign(%b: !torch.vtensor<[4,3],f32>, %s: !torch.vtensor<[3],f32>, %t: !torch.vtensor<[3],f32>, %i: !torch.int) -> !torch.vtensor<[4,3],f32> {
  %int0 = torch.constant.int 0
  %w = tssa.assign "torch.aten.select.int" %b, %s[%int0, %i : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
  %v = tssa.assign "torch.aten.select.int" %w, %t[%int0, %i : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
  return %v : !torch.vtensor<[4,3],f32>
}

// Two rows: both writes count.
// CHECK-LABEL: func.func @assign_of_assign_at_other_index(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[3],f32>
// CHECK-SAME: %[[ARG2:[a-z0-9]+]]: !torch.int
// CHECK-SAME: %[[ARG3:[a-z0-9]+]]: !torch.int
// CHECK: %[[ASSIGN:.+]] = tssa.assign "torch.aten.select.int" %[[ARG0]], %[[ARG1]][%int0, %[[ARG2]]
// CHECK: %[[ASSIGN_2:.+]] = tssa.assign "torch.aten.select.int" %[[ASSIGN]], %[[ARG1]][%int0, %[[ARG3]]
// CHECK: return %[[ASSIGN_2]]
func.func @assign_of_assign_at_other_index(%b: !torch.vtensor<[4,3],f32>, %s: !torch.vtensor<[3],f32>, %i: !torch.int, %j: !torch.int) -> !torch.vtensor<[4,3],f32> {
  %int0 = torch.constant.int 0
  %w = tssa.assign "torch.aten.select.int" %b, %s[%int0, %i : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
  %v = tssa.assign "torch.aten.select.int" %w, %s[%int0, %j : !torch.int, !torch.int] : !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>
  return %v : !torch.vtensor<[4,3],f32>
}

// An update is never dropped: it is what renaming is made of.
// CHECK-LABEL: func.func @update_stays(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.vtensor<[4],f32>
// CHECK: tssa.update %[[ARG1]] of %[[ARG0]]
// CHECK: return
func.func @update_stays(%b: !torch.vtensor<[4],f32>, %s: !torch.vtensor<[4],f32>) {
  tssa.update %s of %b : !torch.vtensor<[4],f32>
  return
}

// An assign through expand stores one of the repetitions, which the others then
// show.
// CHECK-LABEL: func.func @access_of_repeated(
// CHECK: %[[NEW:.+]] = tssa.assign "torch.aten.expand"
// CHECK: %[[SHOWN:.+]] = tssa.access "torch.aten.expand" %[[NEW]]
// CHECK: return %[[SHOWN]]
func.func @access_of_repeated(%b: !torch.vtensor<[1],f32>, %s: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %int4 = torch.constant.int 4
  %false = torch.constant.bool false
  %sizes = torch.prim.ListConstruct %int4 : (!torch.int) -> !torch.list<int>
  %new = tssa.assign "torch.aten.expand" %b, %s[%sizes, %false : !torch.list<int>, !torch.bool] : !torch.vtensor<[1],f32>, !torch.vtensor<[4],f32>
  %shown = tssa.access "torch.aten.expand" %new[%sizes, %false : !torch.list<int>, !torch.bool] : !torch.vtensor<[1],f32> -> !torch.vtensor<[4],f32>
  return %shown : !torch.vtensor<[4],f32>
}
