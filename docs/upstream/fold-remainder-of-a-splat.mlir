// remainder of a constant tensor is folded as fmod
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main
//
// Expected: 4xi64=2 2 2 2
// Actual:   4xi64=-3 -3 -3 -3
//
// Project: torch-mlir. -3 % 5 is 2 in PyTorch; the folder computes std::fmod's -3.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main() -> !torch.vtensor<[4],si64> {
  %m = torch.vtensor.literal(dense<-3> : tensor<4xsi64>) : !torch.vtensor<[4],si64>
  %five = torch.constant.int 5
  %s = torch.aten.remainder.Scalar %m, %five : !torch.vtensor<[4],si64>, !torch.int -> !torch.vtensor<[4],si64>
  return %s : !torch.vtensor<[4],si64>
}
