// A matrix product without elements to sum kills iree-compile (SIGFPE)
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="2x0xf32" --input="0x3xf32"
//
// Expected: 2x3xf32=[0 0 0][0 0 0]
// Actual:   iree-compile is killed by SIGFPE
//
// Project: IREE. PyTorch returns zeros.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[2,0],f32>, %y: !torch.vtensor<[0,3],f32>) -> !torch.vtensor<[2,3],f32> {
  %s = torch.aten.mm %x, %y : !torch.vtensor<[2,0],f32>, !torch.vtensor<[0,3],f32> -> !torch.vtensor<[2,3],f32>
  return %s : !torch.vtensor<[2,3],f32>
}
