// The help begins with the stages, and each pass says which stage it belongs to.
// RUN: ssa-opt --help | FileCheck %s
// RUN: ssa-opt --help | FileCheck %s --check-prefix=TESTS
// CHECK: OVERVIEW: ssa-compiler {{[0-9.]+}}
// CHECK: [imported]
// CHECK-NEXT: [scf] {{ *}}--torch-to-scf
// CHECK-NEXT: [tensorssa] {{ *}}--convert-to-tensorssa
// CHECK: [iree]
// CHECK: [kernels]
// CHECK-DAG: --torch-to-scf {{.*}}- [scf]
// CHECK-DAG: --tssa-rename {{.*}}- [tensorssa]
// CHECK-DAG: --fold-nested-updates {{.*}}- [iree]
// CHECK-DAG: --form-kernels {{.*}}- [kernels]
// CHECK-DAG: --convert-to-tensorssa {{.*}}- [tensorssa]

// Passes of the tests are in another tool.
// TESTS-NOT: --test-print
