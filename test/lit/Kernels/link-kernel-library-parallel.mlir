// RUN: ssa-opt %s --link-kernel-library=parallel=true | FileCheck %s

// Every key is compared with all others of its row; then each place is found by
// its rank.
// CHECK-LABEL: func.func @sorted(
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: arith.cmpi slt
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: arith.cmpi eq
// CHECK-NOT: scf.for
// CHECK-NOT: func.func private
func.func @sorted(%keys: tensor<?x?xi64>) -> tensor<?x?xi64> {
  %places = func.call @ssa_compiler.order(%keys) : (tensor<?x?xi64>) -> tensor<?x?xi64>
  return %places : tensor<?x?xi64>
}

func.func private @ssa_compiler.order(tensor<?x?xi64>) -> tensor<?x?xi64>

// What has no such function is linked as ever.
// CHECK-LABEL: func.func @running(
// CHECK: scf.for
func.func @running(%keys: tensor<?x?xi64>) -> tensor<?x?xi64> {
  %places = func.call @ssa_compiler.running_largest(%keys) : (tensor<?x?xi64>) -> tensor<?x?xi64>
  return %places : tensor<?x?xi64>
}

func.func private @ssa_compiler.running_largest(tensor<?x?xi64>) -> tensor<?x?xi64>
