// The places of the true elements of a tensor, in order: `ssa_compiler::places`.
// There is room for all elements; behind the last place there are zeros.
func.func private @ssa_compiler.places(%flags: tensor<?xi1>) -> tensor<?xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %n = tensor.dim %flags, %c0 : tensor<?xi1>
  %empty = tensor.empty(%n) : tensor<?xi64>
  %found:2 = scf.for %i = %c0 to %n step %c1 iter_args(%count = %c0, %places = %empty) -> (index, tensor<?xi64>) {
    %flag = tensor.extract %flags[%i] : tensor<?xi1>
    %number = arith.index_cast %i : index to i64
    // Written at each step, and kept where the element is true: no branch.
    %next = tensor.insert %number into %places[%count] : tensor<?xi64>
    %more = arith.addi %count, %c1 : index
    %after = arith.select %flag, %more, %count : index
    scf.yield %after, %next : index, tensor<?xi64>
  }
  %result = scf.for %i = %found#0 to %n step %c1 iter_args(%places = %found#1) -> (tensor<?xi64>) {
    %next = tensor.insert %zero into %places[%i] : tensor<?xi64>
    scf.yield %next : tensor<?xi64>
  }
  return %result : tensor<?xi64>
}
