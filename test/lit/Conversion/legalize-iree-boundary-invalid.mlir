// RUN: ssa-opt --legalize-iree-boundary %s --split-input-file --verify-diagnostics

// IREE needs to know the dtype.
// expected-error @+1 {{failed to legalize operation 'func.func'}}
func.func @unknown_dtype(%x: !torch.vtensor<[4],unk>) {
  return
}
