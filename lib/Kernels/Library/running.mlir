// Where the largest key so far of each row is, for each place: of equal ones the
// last one. `ssa_compiler::running_largest`.

func.func private @ssa_compiler.running_largest(%keys: tensor<?x?xi64>) -> tensor<?x?xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %lowest = arith.constant 0x8000000000000000 : i64
  %rows = tensor.dim %keys, %c0 : tensor<?x?xi64>
  %n = tensor.dim %keys, %c1 : tensor<?x?xi64>
  %start = tensor.empty(%rows, %n) : tensor<?x?xi64>
  %result = scf.for %row = %c0 to %rows step %c1 iter_args(%places = %start) -> (tensor<?x?xi64>) {
    %done:3 = scf.for %i = %c0 to %n step %c1 iter_args(%so_far = %places, %most = %lowest, %place = %zero)
        -> (tensor<?x?xi64>, i64, i64) {
      %key = tensor.extract %keys[%row, %i] : tensor<?x?xi64>
      %taken = arith.cmpi sge, %key, %most : i64
      %here = arith.index_cast %i : index to i64
      %most_next = arith.maxsi %key, %most : i64
      %place_next = arith.select %taken, %here, %place : i64
      %next = tensor.insert %place_next into %so_far[%row, %i] : tensor<?x?xi64>
      scf.yield %next, %most_next, %place_next : tensor<?x?xi64>, i64, i64
    }
    scf.yield %done#0 : tensor<?x?xi64>
  }
  return %result : tensor<?x?xi64>
}
