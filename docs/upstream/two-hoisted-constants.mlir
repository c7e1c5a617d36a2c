// Of two constants that one initializer computes, one is used for both
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="5xi64=0 1 2 3 4"
//
// Expected: 5xi64=0 1 -3 3 4
// Actual:   5xi64=0 1 2 3 4
//
// Project: IREE. Right with --iree-opt-const-expr-hoisting=false. The index tensor and the -3 are
// computed by one dispatch when the program is loaded.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[5],si64>) -> !torch.vtensor<[5],si64> {
  %false = torch.constant.bool false
  %amin = torch.constant.str "amin"
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %int64 = torch.constant.int 4
  %minus = torch.constant.int -3
  %none = torch.constant.none
  %i = torch.vtensor.literal(dense<2> : tensor<1xsi64>) : !torch.vtensor<[1],si64>
  %l = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
  %v = torch.aten.full %l, %minus, %int64, %none, %none, %none : !torch.list<int>, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[1],si64>
  %s = torch.aten.scatter_reduce.two %x, %zero, %i, %v, %amin, %false : !torch.vtensor<[5],si64>, !torch.int, !torch.vtensor<[1],si64>, !torch.vtensor<[1],si64>, !torch.str, !torch.bool -> !torch.vtensor<[5],si64>
  return %s : !torch.vtensor<[5],si64>
}
