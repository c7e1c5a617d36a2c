// one_hot with as many classes as its tensor says does not compile
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="3xi64=0 2 1"
//
// Expected: 3x3xi64=[1 0 0][0 0 1][0 1 0]
// Actual:   'linalg.generic' op unexpected result less than 0 at expression #1 in (d0, d1) -> (d0, d1)
//
// Project: torch-mlir. -1 is taken for the number of classes.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[3],si64>) -> !torch.vtensor<[3,?],si64> {
  %m = torch.constant.int -1
  %s = torch.aten.one_hot %x, %m : !torch.vtensor<[3],si64>, !torch.int -> !torch.vtensor<[3,?],si64>
  return %s : !torch.vtensor<[3,?],si64>
}
