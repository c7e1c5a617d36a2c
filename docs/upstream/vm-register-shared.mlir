// A value that the target of a branch still reads is put into the register of the target's argument
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host --compile-from=vm -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=f --input="0" --input="5" --input="9"
//
// Expected: i32=4
// Actual:   i32=0
//
// Project: IREE. %n is the argument %m in one branch, and is read once more behind it: %m - %n is 0
// whichever branch is taken. The register allocation takes the last use of %n for one that ends
// before the block begins.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

vm.module public @m {
  vm.global.i32 private mutable @taken : i32
  vm.export @f
  vm.func private @f(%c: i32, %n: i32, %k: i32) -> i32 attributes {iree.reflection = {iree.abi = "0iii_i"}} {
    vm.cond_br %c, ^taken, ^other
  ^taken:
    vm.global.store.i32 %n, @taken : i32
    vm.br ^join(%n : i32)
  ^other:
    vm.br ^join(%k : i32)
  ^join(%m: i32):
    %r = vm.sub.i32 %m, %n : i32
    vm.return %r : i32
  }
}
