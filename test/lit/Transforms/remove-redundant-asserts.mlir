// RUN: ssa-opt %s --remove-redundant-asserts --split-input-file | FileCheck %s --enable-var-scope

// A slot that is read and written was checked twice in each iteration.
// CHECK-LABEL: func.func @same_condition_twice
// CHECK-SAME: (%[[C:.+]]: i1)
// CHECK: cf.assert %[[C]], "first"
// CHECK-NOT: cf.assert
func.func @same_condition_twice(%c: i1) {
  cf.assert %c, "first"
  cf.assert %c, "second"
  return
}

// -----

// An assertion outside of a region holds inside.
// CHECK-LABEL: func.func @checked_before_the_branch
// CHECK: cf.assert
// CHECK: scf.if
// CHECK-NOT: cf.assert
func.func @checked_before_the_branch(%c: i1, %d: i1) {
  cf.assert %c, "first"
  scf.if %d {
    cf.assert %c, "second"
  }
  return
}

// -----

// One in a branch says nothing about what follows, or about the other branch.
// CHECK-LABEL: func.func @checked_in_a_branch
// CHECK-COUNT-3: cf.assert
func.func @checked_in_a_branch(%c: i1, %d: i1) {
  scf.if %d {
    cf.assert %c, "then"
  } else {
    cf.assert %c, "else"
  }
  cf.assert %c, "after"
  return
}

// -----

// Other conditions stay.
// CHECK-LABEL: func.func @two_conditions
// CHECK-COUNT-2: cf.assert
func.func @two_conditions(%c: i1, %d: i1) {
  cf.assert %c, "first"
  cf.assert %d, "second"
  return
}
