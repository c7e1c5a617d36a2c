// index_put at a mask that holds nowhere crashes
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="8xf32=1 2 3 4 5 6 7 8" --input="8xi1=00 00 00 00 00 00 00 00" --input="f32=9"
//
// Expected: 8xf32=1 2 3 4 5 6 7 8
// Actual:   iree-run-module is killed by SIGSEGV
//
// Project: IREE. The value is broadcast to as many indices as the mask has, but at least to one,
// and is stored at an index that was never computed. iree-run-module ends with a segmentation
// fault, or the tensor is changed.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[8],f32>, %m: !torch.vtensor<[8],i1>, %w: !torch.vtensor<[],f32>) -> !torch.vtensor<[8],f32> {
  %f = torch.constant.bool false
  %l = torch.prim.ListConstruct %m : (!torch.vtensor<[8],i1>) -> !torch.list<vtensor>
  %s = torch.aten.index_put %x, %l, %w, %f : !torch.vtensor<[8],f32>, !torch.list<vtensor>, !torch.vtensor<[],f32>, !torch.bool -> !torch.vtensor<[8],f32>
  return %s : !torch.vtensor<[8],f32>
}
