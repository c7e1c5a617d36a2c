// RUN: ssa-opt --torch-to-scf %s --verify-diagnostics

func.func private @callee(%n: !torch.int) -> !torch.int {
  return %n : !torch.int
}

// The reference would have the type from before the conversion.
func.func @reference(%n: !torch.int) -> !torch.int {
  // expected-error @+1 {{unsupported: a reference to 'callee', which takes or returns scalars; call it}}
  %f = constant @callee : (!torch.int) -> !torch.int
  %r = call_indirect %f(%n) : (!torch.int) -> !torch.int
  return %r : !torch.int
}
