// The functions of `order.mlir` for many threads: each number is compared with
// all others of its row. Functions whose names end in `.parallel` take the place
// of those without where a GPU runs the kernel.

#self = affine_map<(r, i, j) -> (r, i)>
#other = affine_map<(r, i, j) -> (r, j)>

// How many keys of its row come before each key: smaller ones, and equal ones
// that stand in front of it.
func.func private @ssa_compiler.ranks(%keys: tensor<?x?xi64>) -> tensor<?x?xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %rows = tensor.dim %keys, %c0 : tensor<?x?xi64>
  %n = tensor.dim %keys, %c1 : tensor<?x?xi64>
  %empty = tensor.empty(%rows, %n) : tensor<?x?xi64>
  %start = linalg.fill ins(%zero : i64) outs(%empty : tensor<?x?xi64>) -> tensor<?x?xi64>
  %ranks = linalg.generic {
      indexing_maps = [#self, #other, #self], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%keys, %keys : tensor<?x?xi64>, tensor<?x?xi64>) outs(%start : tensor<?x?xi64>) {
  ^bb0(%key: i64, %than: i64, %count: i64):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %smaller = arith.cmpi slt, %than, %key : i64
    %same = arith.cmpi eq, %than, %key : i64
    %in_front = arith.cmpi ult, %j, %i : index
    %tied = arith.andi %same, %in_front : i1
    %before = arith.ori %smaller, %tied : i1
    %one = arith.extui %before : i1 to i64
    %more = arith.addi %count, %one : i64
    linalg.yield %more : i64
  } -> tensor<?x?xi64>
  return %ranks : tensor<?x?xi64>
}

func.func private @ssa_compiler.smallest.parallel(%keys: tensor<?x?xi64>, %k: i64) -> tensor<?x?xi64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %rows = tensor.dim %keys, %c0 : tensor<?x?xi64>
  %count = arith.index_cast %k : i64 to index
  %ranks = func.call @ssa_compiler.ranks(%keys) : (tensor<?x?xi64>) -> tensor<?x?xi64>
  %empty = tensor.empty(%rows, %count) : tensor<?x?xi64>
  %start = linalg.fill ins(%zero : i64) outs(%empty : tensor<?x?xi64>) -> tensor<?x?xi64>
  // One key has each rank: its place is all that is added up.
  %places = linalg.generic {
      indexing_maps = [#other, #self], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%ranks : tensor<?x?xi64>) outs(%start : tensor<?x?xi64>) {
  ^bb0(%rank: i64, %sum: i64):
    %at = linalg.index 1 : index
    %place = linalg.index 2 : index
    %wanted = arith.index_cast %at : index to i64
    %number = arith.index_cast %place : index to i64
    %found = arith.cmpi eq, %rank, %wanted : i64
    %part = arith.select %found, %number, %zero : i64
    %more = arith.addi %sum, %part : i64
    linalg.yield %more : i64
  } -> tensor<?x?xi64>
  return %places : tensor<?x?xi64>
}

func.func private @ssa_compiler.smallest_low.parallel(%keys: tensor<?x?xi64>, %k: i64) -> tensor<?x?xi64> {
  %places = func.call @ssa_compiler.smallest.parallel(%keys, %k)
      : (tensor<?x?xi64>, i64) -> tensor<?x?xi64>
  return %places : tensor<?x?xi64>
}

func.func private @ssa_compiler.order.parallel(%keys: tensor<?x?xi64>) -> tensor<?x?xi64> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %keys, %c1 : tensor<?x?xi64>
  %count = arith.index_cast %n : index to i64
  %places = func.call @ssa_compiler.smallest.parallel(%keys, %count)
      : (tensor<?x?xi64>, i64) -> tensor<?x?xi64>
  return %places : tensor<?x?xi64>
}

func.func private @ssa_compiler.order_low.parallel(%keys: tensor<?x?xi64>) -> tensor<?x?xi64> {
  %places = func.call @ssa_compiler.order.parallel(%keys) : (tensor<?x?xi64>) -> tensor<?x?xi64>
  return %places : tensor<?x?xi64>
}
