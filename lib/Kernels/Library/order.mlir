// The stable order of the rows of a tensor of integers: `ssa_compiler::order`,
// its first places: `ssa_compiler::smallest`, and one of its places:
// `ssa_compiler::nth`.
//
// A row of few elements is sorted by insertion; a longer one by the bytes of its
// keys, the lowest first (radix sort), where bytes in which no two keys of the
// row differ are left out. A few smallest ones are kept in order while the others
// pass by. Functions whose names end in `_low` are the same for keys from 0 to
// 2^32 - 1: a key and its place are one number, which is half the memory to move.

func.func private @ssa_compiler.order(%keys: tensor<?x?xi64>) -> tensor<?x?xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %few = arith.constant 48 : index
  %rows = tensor.dim %keys, %c0 : tensor<?x?xi64>
  %n = tensor.dim %keys, %c1 : tensor<?x?xi64>
  %start = tensor.empty(%rows, %n) : tensor<?x?xi64>
  %is_short = arith.cmpi sle, %n, %few : index
  %result = scf.if %is_short -> (tensor<?x?xi64>) {
    %sorted = func.call @ssa_compiler.order_by_insertion(%keys, %start)
        : (tensor<?x?xi64>, tensor<?x?xi64>) -> tensor<?x?xi64>
    scf.yield %sorted : tensor<?x?xi64>
  } else {
    %sorted = func.call @ssa_compiler.order_by_bytes(%keys, %start)
        : (tensor<?x?xi64>, tensor<?x?xi64>) -> tensor<?x?xi64>
    scf.yield %sorted : tensor<?x?xi64>
  }
  return %result : tensor<?x?xi64>
}

func.func private @ssa_compiler.order_by_insertion(%keys: tensor<?x?xi64>, %start: tensor<?x?xi64>) -> tensor<?x?xi64> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %keys, %c1 : tensor<?x?xi64>
  %sorted = func.call @ssa_compiler.smallest_by_insertion(%keys, %n, %start)
      : (tensor<?x?xi64>, index, tensor<?x?xi64>) -> tensor<?x?xi64>
  return %sorted : tensor<?x?xi64>
}

// The places of the %k smallest keys of each row, in order; of equal keys the
// first ones. %k is not negative, and at most the size of a row.
func.func private @ssa_compiler.smallest(%keys: tensor<?x?xi64>, %k: i64) -> tensor<?x?xi64> {
  %c0 = arith.constant 0 : index
  %few = arith.constant 48 : index
  %rows = tensor.dim %keys, %c0 : tensor<?x?xi64>
  %count = arith.index_cast %k : i64 to index
  %start = tensor.empty(%rows, %count) : tensor<?x?xi64>
  %is_short = arith.cmpi sle, %count, %few : index
  %result = scf.if %is_short -> (tensor<?x?xi64>) {
    %found = func.call @ssa_compiler.smallest_by_insertion(%keys, %count, %start)
        : (tensor<?x?xi64>, index, tensor<?x?xi64>) -> tensor<?x?xi64>
    scf.yield %found : tensor<?x?xi64>
  } else {
    %found = func.call @ssa_compiler.smallest_by_selection(%keys, %count, %start)
        : (tensor<?x?xi64>, index, tensor<?x?xi64>) -> tensor<?x?xi64>
    scf.yield %found : tensor<?x?xi64>
  }
  return %result : tensor<?x?xi64>
}

func.func private @ssa_compiler.order_low(%keys: tensor<?x?xi64>) -> tensor<?x?xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %few = arith.constant 48 : index
  %rows = tensor.dim %keys, %c0 : tensor<?x?xi64>
  %n = tensor.dim %keys, %c1 : tensor<?x?xi64>
  %start = tensor.empty(%rows, %n) : tensor<?x?xi64>
  %is_short = arith.cmpi sle, %n, %few : index
  %result = scf.if %is_short -> (tensor<?x?xi64>) {
    %sorted = func.call @ssa_compiler.order_by_insertion(%keys, %start)
        : (tensor<?x?xi64>, tensor<?x?xi64>) -> tensor<?x?xi64>
    scf.yield %sorted : tensor<?x?xi64>
  } else {
    %no_items = tensor.empty(%n) : tensor<?xi64>
    %others = tensor.empty(%n) : tensor<?xi64>
    %no_counts = tensor.empty() : tensor<1024xi64>
    %sorted = scf.for %row = %c0 to %rows step %c1 iter_args(%order = %start) -> (tensor<?x?xi64>) {
      %items = scf.for %i = %c0 to %n step %c1 iter_args(%items = %no_items) -> (tensor<?xi64>) {
        %key = tensor.extract %keys[%row, %i] : tensor<?x?xi64>
        %item = func.call @ssa_compiler.item(%key, %i) : (i64, index) -> i64
        %next = tensor.insert %item into %items[%i] : tensor<?xi64>
        scf.yield %next : tensor<?xi64>
      }
      %done = func.call @ssa_compiler.sort_items(%items, %others, %no_counts, %n, %row, %order)
          : (tensor<?xi64>, tensor<?xi64>, tensor<1024xi64>, index, index, tensor<?x?xi64>) -> tensor<?x?xi64>
      scf.yield %done : tensor<?x?xi64>
    }
    scf.yield %sorted : tensor<?x?xi64>
  }
  return %result : tensor<?x?xi64>
}

func.func private @ssa_compiler.smallest_low(%keys: tensor<?x?xi64>, %k: i64) -> tensor<?x?xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %few = arith.constant 48 : index
  %sign = arith.constant 0x8000000000000000 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = tensor.dim %keys, %c0 : tensor<?x?xi64>
  %n = tensor.dim %keys, %c1 : tensor<?x?xi64>
  %count = arith.index_cast %k : i64 to index
  %start = tensor.empty(%rows, %count) : tensor<?x?xi64>
  %is_short = arith.cmpi sle, %count, %few : index
  %result = scf.if %is_short -> (tensor<?x?xi64>) {
    %found = func.call @ssa_compiler.smallest_by_insertion(%keys, %count, %start)
        : (tensor<?x?xi64>, index, tensor<?x?xi64>) -> tensor<?x?xi64>
    scf.yield %found : tensor<?x?xi64>
  } else {
    %no_items = tensor.empty(%count) : tensor<?xi64>
    %others = tensor.empty(%count) : tensor<?xi64>
    %no_counts = tensor.empty() : tensor<1024xi64>
    %sorted = scf.for %row = %c0 to %rows step %c1 iter_args(%order = %start) -> (tensor<?x?xi64>) {
      %bound:2 = func.call @ssa_compiler.kth_key(%keys, %row, %count) : (tensor<?x?xi64>, index, index) -> (i64, i64)
      %picked:3 = scf.for %i = %c0 to %n step %c1 iter_args(%items = %no_items, %at = %c0, %equal_left = %bound#1)
          -> (tensor<?xi64>, index, i64) {
        %key = tensor.extract %keys[%row, %i] : tensor<?x?xi64>
        %bits = arith.xori %key, %sign : i64
        %below = arith.cmpi ult, %bits, %bound#0 : i64
        %equals = arith.cmpi eq, %bits, %bound#0 : i64
        %some_left = arith.cmpi sgt, %equal_left, %zero : i64
        %last = arith.andi %equals, %some_left : i1
        %taken = arith.ori %below, %last : i1
        %next:3 = scf.if %taken -> (tensor<?xi64>, index, i64) {
          %item = func.call @ssa_compiler.item(%key, %i) : (i64, index) -> i64
          %items_next = tensor.insert %item into %items[%at] : tensor<?xi64>
          %at_next = arith.addi %at, %c1 : index
          %fewer = arith.subi %equal_left, %one : i64
          %left = arith.select %last, %fewer, %equal_left : i64
          scf.yield %items_next, %at_next, %left : tensor<?xi64>, index, i64
        } else {
          scf.yield %items, %at, %equal_left : tensor<?xi64>, index, i64
        }
        scf.yield %next#0, %next#1, %next#2 : tensor<?xi64>, index, i64
      }
      %done = func.call @ssa_compiler.sort_items(%picked#0, %others, %no_counts, %count, %row, %order)
          : (tensor<?xi64>, tensor<?xi64>, tensor<1024xi64>, index, index, tensor<?x?xi64>) -> tensor<?x?xi64>
      scf.yield %done : tensor<?x?xi64>
    }
    scf.yield %sorted : tensor<?x?xi64>
  }
  return %result : tensor<?x?xi64>
}

// The place of the element of each row that has a number, from 0 on, when the row
// is sorted.
func.func private @ssa_compiler.nth(%keys: tensor<?x?xi64>, %numbers: tensor<?xi64>) -> tensor<?xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sign = arith.constant 0x8000000000000000 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = tensor.dim %keys, %c0 : tensor<?x?xi64>
  %n = tensor.dim %keys, %c1 : tensor<?x?xi64>
  %start = tensor.empty(%rows) : tensor<?xi64>
  %result = scf.for %row = %c0 to %rows step %c1 iter_args(%places = %start) -> (tensor<?xi64>) {
    %number = tensor.extract %numbers[%row] : tensor<?xi64>
    %counted = arith.addi %number, %one : i64
    %k = arith.index_cast %counted : i64 to index
    %bound:2 = func.call @ssa_compiler.kth_key(%keys, %row, %k) : (tensor<?x?xi64>, index, index) -> (i64, i64)
    %found:2 = scf.for %i = %c0 to %n step %c1 iter_args(%place = %zero, %left = %bound#1) -> (i64, i64) {
      %key = tensor.extract %keys[%row, %i] : tensor<?x?xi64>
      %bits = arith.xori %key, %sign : i64
      %equals = arith.cmpi eq, %bits, %bound#0 : i64
      %one_less = arith.extui %equals : i1 to i64
      %left_next = arith.subi %left, %one_less : i64
      %is_last = arith.cmpi eq, %left_next, %zero : i64
      %is_it = arith.andi %equals, %is_last : i1
      %here = arith.index_cast %i : index to i64
      %place_next = arith.select %is_it, %here, %place : i64
      scf.yield %place_next, %left_next : i64, i64
    }
    %next = tensor.insert %found#0 into %places[%row] : tensor<?xi64>
    scf.yield %next : tensor<?xi64>
  }
  return %result : tensor<?xi64>
}

// A key from 0 to 2^32 - 1, above the place that it has.
func.func private @ssa_compiler.item(%key: i64, %place: index) -> i64 {
  %half = arith.constant 32 : i64
  %raised = arith.shli %key, %half : i64
  %number = arith.index_cast %place : index to i64
  %item = arith.ori %raised, %number : i64
  return %item : i64
}

// Sorts the first %n items by their keys, and writes their places to a row. Items
// of equal keys stay in order. The values of all four bytes are counted first.
func.func private @ssa_compiler.sort_items(
    %items: tensor<?xi64>, %others: tensor<?xi64>, %old_counts: tensor<1024xi64>, %n: index, %row: index,
    %order: tensor<?x?xi64>) -> tensor<?x?xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c512 = arith.constant 512 : index
  %c256 = arith.constant 256 : index
  %c768 = arith.constant 768 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %byte = arith.constant 255 : i64
  %two_bytes = arith.constant 0xffff : i64
  %first_low = arith.constant 32 : i64
  %second_low = arith.constant 40 : i64
  %third_low = arith.constant 48 : i64
  %fourth_low = arith.constant 56 : i64
  %eight = arith.constant 8 : i64
  %sixteen = arith.constant 16 : i64
  %places_only = arith.constant 0xffffffff : i64
  %zeros = scf.for %i = %c0 to %c1024 step %c1 iter_args(%c = %old_counts) -> (tensor<1024xi64>) {
    %next = tensor.insert %zero into %c[%i] : tensor<1024xi64>
    scf.yield %next : tensor<1024xi64>
  }
  %first = tensor.extract %items[%c0] : tensor<?xi64>
  %counted:2 = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zeros, %differ = %zero) -> (tensor<1024xi64>, i64) {
    %item = tensor.extract %items[%i] : tensor<?xi64>
    %other = arith.xori %item, %first : i64
    %differ_next = arith.ori %differ, %other : i64
    %shifted_1 = arith.shrui %item, %first_low : i64
    %digit_1 = arith.andi %shifted_1, %byte : i64
    %at_1 = arith.index_cast %digit_1 : i64 to index
    %count_1 = tensor.extract %c[%at_1] : tensor<1024xi64>
    %more_1 = arith.addi %count_1, %one : i64
    %next_1 = tensor.insert %more_1 into %c[%at_1] : tensor<1024xi64>
    %shifted_2 = arith.shrui %item, %second_low : i64
    %digit_2 = arith.andi %shifted_2, %byte : i64
    %value_2 = arith.index_cast %digit_2 : i64 to index
    %at_2 = arith.addi %value_2, %c256 : index
    %count_2 = tensor.extract %next_1[%at_2] : tensor<1024xi64>
    %more_2 = arith.addi %count_2, %one : i64
    %next_2 = tensor.insert %more_2 into %next_1[%at_2] : tensor<1024xi64>
    %shifted_3 = arith.shrui %item, %third_low : i64
    %digit_3 = arith.andi %shifted_3, %byte : i64
    %value_3 = arith.index_cast %digit_3 : i64 to index
    %at_3 = arith.addi %value_3, %c512 : index
    %count_3 = tensor.extract %next_2[%at_3] : tensor<1024xi64>
    %more_3 = arith.addi %count_3, %one : i64
    %next_3 = tensor.insert %more_3 into %next_2[%at_3] : tensor<1024xi64>
    %digit_4 = arith.shrui %item, %fourth_low : i64
    %value_4 = arith.index_cast %digit_4 : i64 to index
    %at_4 = arith.addi %value_4, %c768 : index
    %count_4 = tensor.extract %next_3[%at_4] : tensor<1024xi64>
    %more_4 = arith.addi %count_4, %one : i64
    %next_4 = tensor.insert %more_4 into %next_3[%at_4] : tensor<1024xi64>
    scf.yield %next_4, %differ_next : tensor<1024xi64>, i64
  }
  // Two bytes at a time, so that the items end where they began.
  %sorted:3 = scf.for %pass = %c0 to %c2 step %c1 iter_args(%k = %items, %k2 = %others, %c = %counted#0)
      -> (tensor<?xi64>, tensor<?xi64>, tensor<1024xi64>) {
    %number = arith.index_cast %pass : index to i64
    %above = arith.muli %number, %sixteen : i64
    %low = arith.addi %above, %first_low : i64
    %high = arith.addi %low, %eight : i64
    %shifted = arith.shrui %counted#1, %low : i64
    %differing = arith.andi %shifted, %two_bytes : i64
    %needed = arith.cmpi ne, %differing, %zero : i64
    %next:3 = scf.if %needed -> (tensor<?xi64>, tensor<?xi64>, tensor<1024xi64>) {
      %half:2 = func.call @ssa_compiler.move_items(%k, %k2, %c, %n, %low)
          : (tensor<?xi64>, tensor<?xi64>, tensor<1024xi64>, index, i64) -> (tensor<?xi64>, tensor<1024xi64>)
      %whole:2 = func.call @ssa_compiler.move_items(%half#0, %k, %half#1, %n, %high)
          : (tensor<?xi64>, tensor<?xi64>, tensor<1024xi64>, index, i64) -> (tensor<?xi64>, tensor<1024xi64>)
      scf.yield %whole#0, %half#0, %whole#1 : tensor<?xi64>, tensor<?xi64>, tensor<1024xi64>
    } else {
      scf.yield %k, %k2, %c : tensor<?xi64>, tensor<?xi64>, tensor<1024xi64>
    }
    scf.yield %next#0, %next#1, %next#2 : tensor<?xi64>, tensor<?xi64>, tensor<1024xi64>
  }
  %done = scf.for %i = %c0 to %n step %c1 iter_args(%o = %order) -> (tensor<?x?xi64>) {
    %item = tensor.extract %sorted#0[%i] : tensor<?xi64>
    %place = arith.andi %item, %places_only : i64
    %o_next = tensor.insert %place into %o[%row, %i] : tensor<?x?xi64>
    scf.yield %o_next : tensor<?x?xi64>
  }
  return %done : tensor<?x?xi64>
}

// Moves the first %n items to where they are in the order of one of the bytes of
// their keys, which begins at bit %low, and whose values have been counted.
func.func private @ssa_compiler.move_items(
    %items: tensor<?xi64>, %to: tensor<?xi64>, %counts: tensor<1024xi64>, %n: index, %low: i64)
    -> (tensor<?xi64>, tensor<1024xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %byte = arith.constant 255 : i64
  %first_low = arith.constant 32 : i64
  %above = arith.subi %low, %first_low : i64
  %values_per_bit = arith.constant 32 : i64
  %first_count = arith.muli %above, %values_per_bit : i64
  %base = arith.index_cast %first_count : i64 to index
  %starts:2 = scf.for %i = %c0 to %c256 step %c1 iter_args(%c = %counts, %sum = %zero) -> (tensor<1024xi64>, i64) {
    %at = arith.addi %base, %i : index
    %count = tensor.extract %c[%at] : tensor<1024xi64>
    %next = tensor.insert %sum into %c[%at] : tensor<1024xi64>
    %sum_next = arith.addi %sum, %count : i64
    scf.yield %next, %sum_next : tensor<1024xi64>, i64
  }
  %moved:2 = scf.for %i = %c0 to %n step %c1 iter_args(%k = %to, %c = %starts#0)
      -> (tensor<?xi64>, tensor<1024xi64>) {
    %item = tensor.extract %items[%i] : tensor<?xi64>
    %shifted = arith.shrui %item, %low : i64
    %digit = arith.andi %shifted, %byte : i64
    %value = arith.index_cast %digit : i64 to index
    %bucket = arith.addi %base, %value : index
    %target = tensor.extract %c[%bucket] : tensor<1024xi64>
    %behind = arith.addi %target, %one : i64
    %at = arith.index_cast %target : i64 to index
    %c_next = tensor.insert %behind into %c[%bucket] : tensor<1024xi64>
    %k_next = tensor.insert %item into %k[%at] : tensor<?xi64>
    scf.yield %k_next, %c_next : tensor<?xi64>, tensor<1024xi64>
  }
  return %moved#0, %moved#1 : tensor<?xi64>, tensor<1024xi64>
}

func.func private @ssa_compiler.smallest_by_insertion(%keys: tensor<?x?xi64>, %k: index, %start: tensor<?x?xi64>)
    -> tensor<?x?xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %keys, %c0 : tensor<?x?xi64>
  %n = tensor.dim %keys, %c1 : tensor<?x?xi64>
  %kept_keys = tensor.empty() : tensor<48xi64>
  %last = arith.subi %k, %c1 : index
  %last_place = arith.maxsi %last, %c0 : index
  %result:2 = scf.for %row = %c0 to %rows step %c1 iter_args(%order = %start, %row_keys = %kept_keys)
      -> (tensor<?x?xi64>, tensor<48xi64>) {
    %sorted:2 = scf.for %i = %c0 to %n step %c1 iter_args(%places = %order, %so_far = %row_keys)
        -> (tensor<?x?xi64>, tensor<48xi64>) {
      %key = tensor.extract %keys[%row, %i] : tensor<?x?xi64>
      %largest = tensor.extract %so_far[%last_place] : tensor<48xi64>
      %smaller = arith.cmpi slt, %key, %largest : i64
      %missing = arith.cmpi slt, %i, %k : index
      %wanted = arith.ori %smaller, %missing : i1
      %some = arith.cmpi sgt, %k, %c0 : index
      %enters = arith.andi %wanted, %some : i1
      %next:2 = scf.if %enters -> (tensor<?x?xi64>, tensor<48xi64>) {
        %end = arith.minsi %i, %last_place : index
        // Larger keys move up by one; equal ones stay in front.
        %moved:3 = scf.while (%at = %end, %p = %places, %kept = %so_far)
            : (index, tensor<?x?xi64>, tensor<48xi64>) -> (index, tensor<?x?xi64>, tensor<48xi64>) {
          %below = arith.subi %at, %c1 : index
          %left = arith.maxsi %below, %c0 : index
          %neighbour = tensor.extract %kept[%left] : tensor<48xi64>
          %larger = arith.cmpi sgt, %neighbour, %key : i64
          %inside = arith.cmpi sgt, %at, %c0 : index
          %more = arith.andi %inside, %larger : i1
          scf.condition(%more) %at, %p, %kept : index, tensor<?x?xi64>, tensor<48xi64>
        } do {
        ^bb0(%at: index, %p: tensor<?x?xi64>, %kept: tensor<48xi64>):
          %left = arith.subi %at, %c1 : index
          %neighbour = tensor.extract %kept[%left] : tensor<48xi64>
          %place = tensor.extract %p[%row, %left] : tensor<?x?xi64>
          %kept_next = tensor.insert %neighbour into %kept[%at] : tensor<48xi64>
          %p_next = tensor.insert %place into %p[%row, %at] : tensor<?x?xi64>
          scf.yield %left, %p_next, %kept_next : index, tensor<?x?xi64>, tensor<48xi64>
        }
        %number = arith.index_cast %i : index to i64
        %placed = tensor.insert %number into %moved#1[%row, %moved#0] : tensor<?x?xi64>
        %entered = tensor.insert %key into %moved#2[%moved#0] : tensor<48xi64>
        scf.yield %placed, %entered : tensor<?x?xi64>, tensor<48xi64>
      } else {
        scf.yield %places, %so_far : tensor<?x?xi64>, tensor<48xi64>
      }
      scf.yield %next#0, %next#1 : tensor<?x?xi64>, tensor<48xi64>
    }
    scf.yield %sorted#0, %sorted#1 : tensor<?x?xi64>, tensor<48xi64>
  }
  return %result#0 : tensor<?x?xi64>
}

// Picks the smallest keys of each row, in the order of their places, and sorts
// these. The largest that is picked is found byte by byte, the highest first, by
// counting the keys that agree with it so far. %k is at least 1.
func.func private @ssa_compiler.smallest_by_selection(%keys: tensor<?x?xi64>, %k: index, %start: tensor<?x?xi64>)
    -> tensor<?x?xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %keys, %c0 : tensor<?x?xi64>
  %n = tensor.dim %keys, %c1 : tensor<?x?xi64>
  %sign = arith.constant 0x8000000000000000 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %no_keys = tensor.empty(%rows, %k) : tensor<?x?xi64>
  %no_places = tensor.empty(%rows, %k) : tensor<?x?xi64>
  %picked:2 = scf.for %row = %c0 to %rows step %c1 iter_args(%row_keys = %no_keys, %row_places = %no_places)
      -> (tensor<?x?xi64>, tensor<?x?xi64>) {
    %bound:2 = func.call @ssa_compiler.kth_key(%keys, %row, %k) : (tensor<?x?xi64>, index, index) -> (i64, i64)
    %all:4 = scf.for %i = %c0 to %n step %c1
        iter_args(%p_keys = %row_keys, %p_places = %row_places, %at = %c0, %equal_left = %bound#1)
        -> (tensor<?x?xi64>, tensor<?x?xi64>, index, i64) {
      %key = tensor.extract %keys[%row, %i] : tensor<?x?xi64>
      %bits = arith.xori %key, %sign : i64
      %below = arith.cmpi ult, %bits, %bound#0 : i64
      %equals = arith.cmpi eq, %bits, %bound#0 : i64
      %some_left = arith.cmpi sgt, %equal_left, %zero : i64
      %last = arith.andi %equals, %some_left : i1
      %taken = arith.ori %below, %last : i1
      %next:4 = scf.if %taken -> (tensor<?x?xi64>, tensor<?x?xi64>, index, i64) {
        %number = arith.index_cast %i : index to i64
        %k_next = tensor.insert %key into %p_keys[%row, %at] : tensor<?x?xi64>
        %p_next = tensor.insert %number into %p_places[%row, %at] : tensor<?x?xi64>
        %at_next = arith.addi %at, %c1 : index
        %fewer = arith.subi %equal_left, %one : i64
        %left = arith.select %last, %fewer, %equal_left : i64
        scf.yield %k_next, %p_next, %at_next, %left : tensor<?x?xi64>, tensor<?x?xi64>, index, i64
      } else {
        scf.yield %p_keys, %p_places, %at, %equal_left : tensor<?x?xi64>, tensor<?x?xi64>, index, i64
      }
      scf.yield %next#0, %next#1, %next#2, %next#3 : tensor<?x?xi64>, tensor<?x?xi64>, index, i64
    }
    scf.yield %all#0, %all#1 : tensor<?x?xi64>, tensor<?x?xi64>
  }
  %unsorted = tensor.empty(%rows, %k) : tensor<?x?xi64>
  %order = func.call @ssa_compiler.order_by_bytes(%picked#0, %unsorted)
      : (tensor<?x?xi64>, tensor<?x?xi64>) -> tensor<?x?xi64>
  %result = scf.for %row = %c0 to %rows step %c1 iter_args(%out = %start) -> (tensor<?x?xi64>) {
    %done = scf.for %i = %c0 to %k step %c1 iter_args(%o = %out) -> (tensor<?x?xi64>) {
      %number = tensor.extract %order[%row, %i] : tensor<?x?xi64>
      %at = arith.index_cast %number : i64 to index
      %place = tensor.extract %picked#1[%row, %at] : tensor<?x?xi64>
      %o_next = tensor.insert %place into %o[%row, %i] : tensor<?x?xi64>
      scf.yield %o_next : tensor<?x?xi64>
    }
    scf.yield %done : tensor<?x?xi64>
  }
  return %result : tensor<?x?xi64>
}

// The k-th smallest key of a row, with its sign changed, as an unsigned number;
// and how many of those equal to it are among the k smallest.
func.func private @ssa_compiler.kth_key(%keys: tensor<?x?xi64>, %row: index, %k: index) -> (i64, i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c256 = arith.constant 256 : index
  %sign = arith.constant 0x8000000000000000 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %eight = arith.constant 8 : i64
  %highest = arith.constant 56 : i64
  %byte = arith.constant 255 : i64
  %no = arith.constant false
  %n = tensor.dim %keys, %c1 : tensor<?x?xi64>
  %first_key = tensor.extract %keys[%row, %c0] : tensor<?x?xi64>
  %first = arith.xori %first_key, %sign : i64
  %differ = scf.for %i = %c0 to %n step %c1 iter_args(%so_far = %zero) -> (i64) {
    %key = tensor.extract %keys[%row, %i] : tensor<?x?xi64>
    %other = arith.xori %key, %first_key : i64
    %next = arith.ori %so_far, %other : i64
    scf.yield %next : i64
  }
  %wanted = arith.index_cast %k : index to i64
  %no_counts = tensor.empty() : tensor<256xi64>
  %found:3 = scf.for %step = %c0 to %c8 step %c1
      iter_args(%prefix = %zero, %left = %wanted, %old_counts = %no_counts) -> (i64, i64, tensor<256xi64>) {
    %number = arith.index_cast %step : index to i64
    %above = arith.muli %number, %eight : i64
    %low = arith.subi %highest, %above : i64
    %shifted_differ = arith.shrui %differ, %low : i64
    %differing = arith.andi %shifted_differ, %byte : i64
    %needed = arith.cmpi ne, %differing, %zero : i64
    %digit:3 = scf.if %needed -> (i64, i64, tensor<256xi64>) {
      %zeros = scf.for %i = %c0 to %c256 step %c1 iter_args(%c = %old_counts) -> (tensor<256xi64>) {
        %next = tensor.insert %zero into %c[%i] : tensor<256xi64>
        scf.yield %next : tensor<256xi64>
      }
      %counts = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zeros) -> (tensor<256xi64>) {
        %key = tensor.extract %keys[%row, %i] : tensor<?x?xi64>
        %bits = arith.xori %key, %sign : i64
        %lowered = arith.shrui %bits, %low : i64
        %start = arith.shrui %lowered, %eight : i64
        %agrees = arith.cmpi eq, %start, %prefix : i64
        %one_more = arith.extui %agrees : i1 to i64
        %value = arith.andi %lowered, %byte : i64
        %at = arith.index_cast %value : i64 to index
        %count = tensor.extract %c[%at] : tensor<256xi64>
        %more = arith.addi %count, %one_more : i64
        %next = tensor.insert %more into %c[%at] : tensor<256xi64>
        scf.yield %next : tensor<256xi64>
      }
      %bucket:3 = scf.for %i = %c0 to %c256 step %c1 iter_args(%value = %zero, %rest = %left, %is_found = %no)
          -> (i64, i64, i1) {
        %count = tensor.extract %counts[%i] : tensor<256xi64>
        %here = arith.cmpi sle, %rest, %count : i64
        %candidate = arith.index_cast %i : index to i64
        %fewer = arith.subi %rest, %count : i64
        %is_found_next = arith.ori %is_found, %here : i1
        %value_next = arith.select %is_found, %value, %candidate : i64
        %rest_next = arith.select %is_found_next, %rest, %fewer : i64
        scf.yield %value_next, %rest_next, %is_found_next : i64, i64, i1
      }
      scf.yield %bucket#0, %bucket#1, %counts : i64, i64, tensor<256xi64>
    } else {
      %lowered = arith.shrui %first, %low : i64
      %value = arith.andi %lowered, %byte : i64
      scf.yield %value, %left, %old_counts : i64, i64, tensor<256xi64>
    }
    %raised = arith.shli %prefix, %eight : i64
    %prefix_next = arith.ori %raised, %digit#0 : i64
    scf.yield %prefix_next, %digit#1, %digit#2 : i64, i64, tensor<256xi64>
  }
  return %found#0, %found#1 : i64, i64
}

func.func private @ssa_compiler.order_by_bytes(%keys: tensor<?x?xi64>, %start: tensor<?x?xi64>) -> tensor<?x?xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %sign = arith.constant 0x8000000000000000 : i64
  %no_bits = arith.constant 0 : i64
  %eight = arith.constant 8 : i64
  %sixteen = arith.constant 16 : i64
  %two_bytes = arith.constant 0xffff : i64
  %rows = tensor.dim %keys, %c0 : tensor<?x?xi64>
  %n = tensor.dim %keys, %c1 : tensor<?x?xi64>
  %result = scf.for %row = %c0 to %rows step %c1 iter_args(%order = %start) -> (tensor<?x?xi64>) {
    %no_keys = tensor.empty(%n) : tensor<?xi64>
    %no_places = tensor.empty(%n) : tensor<?xi64>
    %other_keys = tensor.empty(%n) : tensor<?xi64>
    %other_places = tensor.empty(%n) : tensor<?xi64>
    %counts = tensor.empty() : tensor<256xi64>
    %first = tensor.extract %keys[%row, %c0] : tensor<?x?xi64>
    %given:3 = scf.for %i = %c0 to %n step %c1 iter_args(%k = %no_keys, %p = %no_places, %differ = %no_bits)
        -> (tensor<?xi64>, tensor<?xi64>, i64) {
      %key = tensor.extract %keys[%row, %i] : tensor<?x?xi64>
      %bits = arith.xori %key, %sign : i64
      %number = arith.index_cast %i : index to i64
      %k_next = tensor.insert %bits into %k[%i] : tensor<?xi64>
      %p_next = tensor.insert %number into %p[%i] : tensor<?xi64>
      %other = arith.xori %key, %first : i64
      %differ_next = arith.ori %differ, %other : i64
      scf.yield %k_next, %p_next, %differ_next : tensor<?xi64>, tensor<?xi64>, i64
    }
    // Two bytes at a time, so that the keys end where they began.
    %sorted:5 = scf.for %pass = %c0 to %c4 step %c1
        iter_args(%k = %given#0, %p = %given#1, %k2 = %other_keys, %p2 = %other_places, %c = %counts)
        -> (tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<256xi64>) {
      %number = arith.index_cast %pass : index to i64
      %low = arith.muli %number, %sixteen : i64
      %high = arith.addi %low, %eight : i64
      %shifted = arith.shrui %given#2, %low : i64
      %differing = arith.andi %shifted, %two_bytes : i64
      %needed = arith.cmpi ne, %differing, %no_bits : i64
      %next:5 = scf.if %needed
          -> (tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<256xi64>) {
        %half:3 = func.call @ssa_compiler.order_by_byte(%k, %p, %k2, %p2, %c, %low)
            : (tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<256xi64>, i64)
            -> (tensor<?xi64>, tensor<?xi64>, tensor<256xi64>)
        %whole:3 = func.call @ssa_compiler.order_by_byte(%half#0, %half#1, %k, %p, %half#2, %high)
            : (tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<256xi64>, i64)
            -> (tensor<?xi64>, tensor<?xi64>, tensor<256xi64>)
        scf.yield %whole#0, %whole#1, %half#0, %half#1, %whole#2
            : tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<256xi64>
      } else {
        scf.yield %k, %p, %k2, %p2, %c
            : tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<256xi64>
      }
      scf.yield %next#0, %next#1, %next#2, %next#3, %next#4
          : tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<256xi64>
    }
    %done = scf.for %i = %c0 to %n step %c1 iter_args(%o = %order) -> (tensor<?x?xi64>) {
      %place = tensor.extract %sorted#1[%i] : tensor<?xi64>
      %o_next = tensor.insert %place into %o[%row, %i] : tensor<?x?xi64>
      scf.yield %o_next : tensor<?x?xi64>
    }
    scf.yield %done : tensor<?x?xi64>
  }
  return %result : tensor<?x?xi64>
}

// Moves keys, and what belongs to them, to where they are in the order of one of
// their bytes, which begins at bit %low.
func.func private @ssa_compiler.order_by_byte(
    %keys: tensor<?xi64>, %places: tensor<?xi64>, %to_keys: tensor<?xi64>, %to_places: tensor<?xi64>,
    %old_counts: tensor<256xi64>, %low: i64) -> (tensor<?xi64>, tensor<?xi64>, tensor<256xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %byte = arith.constant 255 : i64
  %n = tensor.dim %keys, %c0 : tensor<?xi64>
  %zeros = scf.for %i = %c0 to %c256 step %c1 iter_args(%c = %old_counts) -> (tensor<256xi64>) {
    %next = tensor.insert %zero into %c[%i] : tensor<256xi64>
    scf.yield %next : tensor<256xi64>
  }
  %counts = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zeros) -> (tensor<256xi64>) {
    %key = tensor.extract %keys[%i] : tensor<?xi64>
    %shifted = arith.shrui %key, %low : i64
    %digit = arith.andi %shifted, %byte : i64
    %at = arith.index_cast %digit : i64 to index
    %count = tensor.extract %c[%at] : tensor<256xi64>
    %more = arith.addi %count, %one : i64
    %next = tensor.insert %more into %c[%at] : tensor<256xi64>
    scf.yield %next : tensor<256xi64>
  }
  %starts:2 = scf.for %i = %c0 to %c256 step %c1 iter_args(%c = %counts, %sum = %zero) -> (tensor<256xi64>, i64) {
    %count = tensor.extract %c[%i] : tensor<256xi64>
    %next = tensor.insert %sum into %c[%i] : tensor<256xi64>
    %sum_next = arith.addi %sum, %count : i64
    scf.yield %next, %sum_next : tensor<256xi64>, i64
  }
  %moved:3 = scf.for %i = %c0 to %n step %c1 iter_args(%k = %to_keys, %p = %to_places, %c = %starts#0)
      -> (tensor<?xi64>, tensor<?xi64>, tensor<256xi64>) {
    %key = tensor.extract %keys[%i] : tensor<?xi64>
    %place = tensor.extract %places[%i] : tensor<?xi64>
    %shifted = arith.shrui %key, %low : i64
    %digit = arith.andi %shifted, %byte : i64
    %bucket = arith.index_cast %digit : i64 to index
    %target = tensor.extract %c[%bucket] : tensor<256xi64>
    %behind = arith.addi %target, %one : i64
    %at = arith.index_cast %target : i64 to index
    %c_next = tensor.insert %behind into %c[%bucket] : tensor<256xi64>
    %k_next = tensor.insert %key into %k[%at] : tensor<?xi64>
    %p_next = tensor.insert %place into %p[%at] : tensor<?xi64>
    scf.yield %k_next, %p_next, %c_next : tensor<?xi64>, tensor<?xi64>, tensor<256xi64>
  }
  return %moved#0, %moved#1, %moved#2 : tensor<?xi64>, tensor<?xi64>, tensor<256xi64>
}
