// Scalar ops, with Python's semantics where the machine's differ.
// RUN: ssa-opt --torch-to-scf %s | FileCheck %s

// Rounds down, where the machine rounds to zero; raises for 0. The machine traps
// for -2**63 // -1 and for 0, also where the division is moved in front of the
// check: nothing is divided by either.
// CHECK-LABEL: func.func @floor_division(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: i64
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i64
// CHECK-DAG: %[[C0:.+]] = arith.constant 0
// CHECK-DAG: %[[C1:.+]] = arith.constant 1
// CHECK-DAG: %[[MINUS:.+]] = arith.constant -1
// CHECK: %[[CMPI:.+]] = arith.cmpi ne, %[[ARG1]], %[[C0]]
// CHECK: cf.assert %[[CMPI]], "ZeroDivisionError: integer division or modulo by zero [model.py:7]"
// CHECK: %[[IS_MINUS:.+]] = arith.cmpi eq, %[[ARG1]], %[[MINUS]]
// CHECK: %[[NEXT:.+]] = arith.addi %[[ARG1]], %[[C1]]
// CHECK: %[[TRAPS:.+]] = arith.cmpi ult, %[[NEXT]], %{{.+}}
// CHECK: %[[SAFE:.+]] = arith.select %[[TRAPS]], %[[C1]], %[[ARG1]]
// CHECK: %[[FLOORDIVSI:.+]] = arith.floordivsi %[[ARG0]], %[[SAFE]]
// CHECK: %[[NEGATED:.+]] = arith.subi %[[C0]], %[[ARG0]]
// CHECK: %[[RESULT:.+]] = arith.select %[[IS_MINUS]], %[[NEGATED]], %[[FLOORDIVSI]]
// CHECK: return %[[RESULT]]
func.func @floor_division(%a: !torch.int, %b: !torch.int) -> !torch.int {
  %r = torch.aten.floordiv.int %a, %b : !torch.int, !torch.int -> !torch.int loc("model.py":7:3)
  return %r : !torch.int
}

// Has the sign of the divisor: -7 % 2 is 1.
// CHECK-LABEL: func.func @remainder(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: i64
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i64
// CHECK-DAG: %[[C0:.+]] = arith.constant 0
// CHECK: %[[CMPI:.+]] = arith.cmpi ne, %[[ARG1]], %[[C0]]
// CHECK: cf.assert %[[CMPI]], "ZeroDivisionError: integer division or modulo by zero [model.py:7]"
// CHECK: %[[SAFE:.+]] = arith.select %{{.+}}, %{{.+}}, %[[ARG1]]
// CHECK: %[[REMSI:.+]] = arith.remsi %[[ARG0]], %[[SAFE]]
// CHECK: %[[CMPI_2:.+]] = arith.cmpi ne, %[[REMSI]], %[[C0]]
// CHECK: %[[CMPI_3:.+]] = arith.cmpi slt, %[[SAFE]], %[[C0]]
// CHECK: %[[CMPI_4:.+]] = arith.cmpi slt, %[[REMSI]], %[[C0]]
// CHECK: %[[XORI:.+]] = arith.xori %[[CMPI_4]], %[[CMPI_3]]
// CHECK: %[[ANDI:.+]] = arith.andi %[[CMPI_2]], %[[XORI]]
// CHECK: %[[ADDI:.+]] = arith.addi %[[REMSI]], %[[SAFE]]
// CHECK: %[[SELECT:.+]] = arith.select %[[ANDI]], %[[ADDI]], %[[REMSI]]
// CHECK: return %[[SELECT]]
func.func @remainder(%a: !torch.int, %b: !torch.int) -> !torch.int {
  %r = torch.aten.remainder.int %a, %b : !torch.int, !torch.int -> !torch.int loc("model.py":7:3)
  return %r : !torch.int
}

// A divisor that is known needs no check.
// CHECK-LABEL: func.func @floor_division_by_constant(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: i64
// CHECK-NOT: cf.assert
// CHECK: %[[FLOORDIVSI:.+]] = arith.floordivsi %[[ARG0]], %{{.+}}
// CHECK-NOT: cf.assert
// CHECK: return %[[FLOORDIVSI]]
func.func @floor_division_by_constant(%a: !torch.int) -> !torch.int {
  %int2 = torch.constant.int 2
  %r = torch.aten.floordiv.int %a, %int2 : !torch.int, !torch.int -> !torch.int
  return %r : !torch.int
}

// Always a float, rounded once: what the operands and the quotient are rounded
// by is added.
// CHECK-LABEL: func.func @true_division_of_ints(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: i64
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i64
// CHECK: cf.assert %{{.+}}, "ZeroDivisionError: float division by zero [model.py:7]"
// CHECK: %[[DIVF:.+]] = arith.divf %[[A:.+]], %[[B:.+]] : f64
// CHECK: %[[PRODUCT:.+]] = arith.mulf %[[DIVF]], %[[B]]
// CHECK: arith.subf %[[A]], %[[PRODUCT]]
// CHECK: %[[ERROR:.+]] = arith.divf %{{.+}}, %[[B]]
// CHECK: %[[MORE:.+]] = arith.addf %[[DIVF]], %[[ERROR]]
// CHECK: arith.select %{{.+}}, %[[DIVF]], %[[MORE]]
func.func @true_division_of_ints(%a: !torch.int, %b: !torch.int) -> !torch.float {
  %r = torch.aten.div.int %a, %b : !torch.int, !torch.int -> !torch.float loc("model.py":7:3)
  return %r : !torch.float
}

// Has the sign of the divisor, down to that of zero.
// CHECK-LABEL: func.func @float_remainder(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: f64
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: f64
// CHECK: %[[MINUS_ZERO:.+]] = arith.constant -0.000000e+00
// CHECK: %[[ZERO:.+]] = arith.constant 0.000000e+00
// CHECK: %[[CMPF:.+]] = arith.cmpf une, %[[ARG1]], %[[ZERO]]
// CHECK: cf.assert %[[CMPF]], "ZeroDivisionError: float division by zero
// CHECK: %[[REMF:.+]] = arith.remf %[[ARG0]], %[[ARG1]]
// CHECK: %[[CMPF_5:.+]] = arith.cmpf oeq, %[[REMF]], %[[ZERO]]
// CHECK: %[[CMPF_3:.+]] = arith.cmpf olt, %[[ARG1]], %[[ZERO]]
// CHECK: %[[CMPF_4:.+]] = arith.cmpf olt, %[[REMF]], %[[ZERO]]
// CHECK: %[[XORI:.+]] = arith.xori %[[CMPF_4]], %[[CMPF_3]]
// CHECK: %[[CMPF_2:.+]] = arith.xori %[[CMPF_5]], %{{.+}}
// CHECK: %[[ANDI:.+]] = arith.andi %[[CMPF_2]], %[[XORI]]
// CHECK: %[[SELECT:.+]] = arith.select %[[CMPF_3]], %[[MINUS_ZERO]], %[[ZERO]]
// CHECK: %[[ADDF:.+]] = arith.addf %[[REMF]], %[[ARG1]]
// CHECK: %[[SELECT_2:.+]] = arith.select %[[ANDI]], %[[ADDF]], %[[REMF]]
// CHECK: %[[SELECT_3:.+]] = arith.select %[[CMPF_5]], %[[SELECT]], %[[SELECT_2]]
// CHECK: return %[[SELECT_3]]
func.func @float_remainder(%a: !torch.float, %b: !torch.float) -> !torch.float {
  %r = torch.operator "torch.aten.remainder.float"(%a, %b) {tssa.schema = "aten::remainder.float(float a, float b) -> float"} : (!torch.float, !torch.float) -> !torch.float
  return %r : !torch.float
}

// The quotient that fits the remainder: 1.0 // 0.1 is 9.0.
// CHECK-LABEL: func.func @float_floor_division(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: f64
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: f64
// CHECK: cf.assert %{{.+}}, "ZeroDivisionError: float division by zero
// CHECK: %[[REMF:.+]] = arith.remf %[[ARG0]], %[[ARG1]]
// CHECK: %[[FLOOR:.+]] = math.floor %{{.+}}
// CHECK: return %{{.+}}
func.func @float_floor_division(%a: !torch.float, %b: !torch.float) -> !torch.float {
  %r = torch.operator "torch.aten.floordiv.float"(%a, %b) {tssa.schema = "aten::floordiv.float(float a, float b) -> float"} : (!torch.float, !torch.float) -> !torch.float
  return %r : !torch.float
}

// By value: where the float is what the int is rounded to, the rest decides.
// CHECK-LABEL: func.func @compare_float_with_int(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: f64
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i64
// CHECK: %[[SITOFP:.+]] = arith.sitofp %[[ARG1]]
// CHECK: %[[SAME:.+]] = arith.cmpf oeq, %[[SITOFP]], %[[ARG0]]
// CHECK: %[[CMPF:.+]] = arith.cmpf ogt, %[[SITOFP]], %[[ARG0]]
// CHECK: %[[REST:.+]] = arith.cmpf ogt, %{{.+}}, %{{.+}}
// CHECK: %[[RESULT:.+]] = arith.select %[[SAME]], %[[REST]], %[[CMPF]]
// CHECK: return %[[RESULT]]
func.func @compare_float_with_int(%a: !torch.float, %b: !torch.int) -> !torch.bool {
  %r = torch.aten.lt.float_int %a, %b : !torch.float, !torch.int -> !torch.bool
  return %r : !torch.bool
}

// NaN differs from everything: unordered.
// CHECK-LABEL: func.func @float_is_not_equal_to_nan(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: f64
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i64
// CHECK: %[[SITOFP:.+]] = arith.sitofp %[[ARG1]]
// CHECK: %[[SAME:.+]] = arith.cmpf oeq, %[[SITOFP]], %[[ARG0]]
// CHECK: %[[CMPF:.+]] = arith.cmpf une, %[[SITOFP]], %[[ARG0]]
// CHECK: %[[REST:.+]] = arith.cmpf une, %{{.+}}, %{{.+}}
// CHECK: %[[RESULT:.+]] = arith.select %[[SAME]], %[[REST]], %[[CMPF]]
// CHECK: return %[[RESULT]]
func.func @float_is_not_equal_to_nan(%a: !torch.float, %b: !torch.int) -> !torch.bool {
  %r = torch.aten.ne.float_int %a, %b : !torch.float, !torch.int -> !torch.bool
  return %r : !torch.bool
}

// CHECK-LABEL: func.func @mixed_arithmetic(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: i64
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: f64
// CHECK: %[[SITOFP:.+]] = arith.sitofp %[[ARG0]]
// CHECK: %[[MULF:.+]] = arith.mulf %[[SITOFP]], %[[ARG1]]
// CHECK: return %[[MULF]]
func.func @mixed_arithmetic(%a: !torch.int, %b: !torch.float) -> !torch.float {
  %r = torch.aten.mul.int_float %a, %b : !torch.int, !torch.float -> !torch.float
  return %r : !torch.float
}

// Towards zero; what does not fit is an error, since Python's int would not be.
// CHECK-LABEL: func.func @float_to_int(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: f64
// CHECK-DAG: %[[LIMIT:.+]] = arith.constant 9.2233720368547758E+18
// CHECK-DAG: %[[LEAST:.+]] = arith.constant -9.2233720368547758E+18
// CHECK-DAG: %[[BELOW:.+]] = arith.cmpf olt, %[[ARG0]], %[[LIMIT]]
// CHECK-DAG: %[[ABOVE:.+]] = arith.cmpf oge, %[[ARG0]], %[[LEAST]]
// CHECK: %[[CMPF:.+]] = arith.andi %[[ABOVE]], %[[BELOW]]
// CHECK: cf.assert %[[CMPF]], "OverflowError: float does not fit an int of 64 bits
// CHECK: %[[FPTOSI:.+]] = arith.fptosi %[[ARG0]]
// CHECK: return %[[FPTOSI]]
func.func @float_to_int(%a: !torch.float) -> !torch.int {
  %r = torch.aten.Int.float %a : !torch.float -> !torch.int
  return %r : !torch.int
}

// NaN is true.
// CHECK-LABEL: func.func @float_to_bool(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: f64
// CHECK: %[[ZERO:.+]] = arith.constant 0.000000e+00
// CHECK: %[[CMPF:.+]] = arith.cmpf une, %[[ARG0]], %[[ZERO]]
// CHECK: return %[[CMPF]]
func.func @float_to_bool(%a: !torch.float) -> !torch.bool {
  %r = torch.aten.Bool.float %a : !torch.float -> !torch.bool
  return %r : !torch.bool
}

// True is 1, not -1.
// CHECK-LABEL: func.func @bool_to_int(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: i1
// CHECK: %[[EXTUI:.+]] = arith.extui %[[ARG0]]
// CHECK: return %[[EXTUI]]
func.func @bool_to_int(%a: !torch.bool) -> !torch.int {
  %r = torch.aten.Int.bool %a : !torch.bool -> !torch.int
  return %r : !torch.int
}

// Python's ceil is an int.
// CHECK-LABEL: func.func @ceil_of_float(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: f64
// CHECK: %[[CEIL:.+]] = math.ceil %[[ARG0]]
// CHECK: %[[FPTOSI:.+]] = arith.fptosi %[[CEIL]]
// CHECK: return %[[FPTOSI]]
func.func @ceil_of_float(%a: !torch.float) -> !torch.int {
  %r = torch.aten.ceil.float %a : !torch.float -> !torch.int
  return %r : !torch.int
}

// Python raises where the machine answers NaN; NaN itself is allowed.
// CHECK-LABEL: func.func @square_root(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: i64
// CHECK: %[[C0:.+]] = arith.constant 0
// CHECK: %[[SITOFP:.+]] = arith.sitofp %[[ARG0]]
// CHECK: %[[CMPI:.+]] = arith.cmpi sge, %[[ARG0]], %[[C0]]
// CHECK: cf.assert %[[CMPI]], "ValueError: math domain error
// CHECK: %[[SQRT:.+]] = math.sqrt %[[SITOFP]]
// CHECK: return %[[SQRT]]
func.func @square_root(%a: !torch.int) -> !torch.float {
  %r = torch.aten.sqrt.int %a : !torch.int -> !torch.float
  return %r : !torch.float
}

// 0 has none.
// CHECK-LABEL: func.func @logarithm(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: i64
// CHECK: %[[C0:.+]] = arith.constant 0
// CHECK: %[[SITOFP:.+]] = arith.sitofp %[[ARG0]]
// CHECK: %[[CMPI:.+]] = arith.cmpi sgt, %[[ARG0]], %[[C0]]
// CHECK: cf.assert %[[CMPI]], "ValueError: math domain error
// CHECK: %[[LOG:.+]] = math.log %[[SITOFP]]
// CHECK: return %[[LOG]]
func.func @logarithm(%a: !torch.int) -> !torch.float {
  %r = torch.aten.log.int %a : !torch.int -> !torch.float
  return %r : !torch.float
}

// CHECK-LABEL: func.func @maximum(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: i64
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i64
// CHECK: %[[MAXSI:.+]] = arith.maxsi %[[ARG0]], %[[ARG1]]
// CHECK: return %[[MAXSI]]
func.func @maximum(%a: !torch.int, %b: !torch.int) -> !torch.int {
  %r = torch.prim.max.int %a, %b : !torch.int, !torch.int -> !torch.int
  return %r : !torch.int
}

// CHECK-LABEL: func.func @logic(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: i1
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i1
// CHECK: %[[ANDI:.+]] = arith.andi %[[ARG0]], %[[ARG1]]
// CHECK: return %[[ANDI]]
func.func @logic(%a: !torch.bool, %b: !torch.bool) -> !torch.bool {
  %r = torch.aten.__and__.bool %a, %b : !torch.bool, !torch.bool -> !torch.bool
  return %r : !torch.bool
}

// CHECK-LABEL: func.func @negation(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: i1
// CHECK: %[[TRUE:.+]] = arith.constant true
// CHECK: %[[XORI:.+]] = arith.xori %[[ARG0]], %[[TRUE]]
// CHECK: return %[[XORI]]
func.func @negation(%a: !torch.bool) -> !torch.bool {
  %r = torch.aten.__not__ %a : !torch.bool -> !torch.bool
  return %r : !torch.bool
}

// CHECK-LABEL: func.func @integer_power_as_float(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: i64
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: f64
// CHECK: %[[SITOFP:.+]] = arith.sitofp %[[ARG0]]
// CHECK: %[[POWF:.+]] = math.powf %[[SITOFP]], %[[ARG1]]
// CHECK: return %[[POWF]]
func.func @integer_power_as_float(%a: !torch.int, %b: !torch.float) -> !torch.float {
  %r = torch.aten.pow.int_float %a, %b : !torch.int, !torch.float -> !torch.float
  return %r : !torch.float
}

// Stays, between casts: no harm done.
// CHECK-LABEL: func.func @op_without_counterpart(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: i64
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i64
// CHECK-SAME: %[[ARG2:[a-z0-9]+]]: i64
// CHECK: %[[FROM_I64:.+]] = torch_c.from_i64 %[[ARG0]]
// CHECK: %[[FROM_I64_2:.+]] = torch_c.from_i64 %[[ARG1]]
// CHECK: %[[FROM_I64_3:.+]] = torch_c.from_i64 %[[ARG2]]
// CHECK: %[[DERIVE_INDEX:.+]] = torch.aten.__derive_index %[[FROM_I64]], %[[FROM_I64_2]], %[[FROM_I64_3]]
// CHECK: %[[TO_I64:.+]] = torch_c.to_i64 %[[DERIVE_INDEX]]
// CHECK: return %[[TO_I64]]
func.func @op_without_counterpart(%a: !torch.int, %b: !torch.int, %c: !torch.int) -> !torch.int {
  %r = torch.aten.__derive_index %a, %b, %c : !torch.int, !torch.int, !torch.int -> !torch.int
  return %r : !torch.int
}

// The name of one of Python's ops says nothing in another namespace.
// CHECK-LABEL: func.func @of_the_user(
// CHECK: torch.operator "torch.my.gcd"
// CHECK: torch.operator "torch.my.neg"
func.func @of_the_user(%a: !torch.int, %b: !torch.float) -> (!torch.int, !torch.float) {
  %r = torch.operator "torch.my.gcd"(%a, %a) {tssa.schema = "my::gcd(int a, int b) -> int"} : (!torch.int, !torch.int) -> !torch.int
  %s = torch.operator "torch.my.neg"(%b) {tssa.schema = "my::neg(float a) -> float"} : (!torch.float) -> !torch.float
  return %r, %s : !torch.int, !torch.float
}

// CHECK-LABEL: func.func @left_shift(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: i64
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i64
// CHECK: %[[PAST:.+]] = arith.cmpi sgt, %[[ARG1]], %[[MOST:.+]] : i64
// CHECK: %[[COUNT:.+]] = arith.select %[[PAST]], %[[MOST]], %[[ARG1]]
// CHECK: %[[SHIFTED:.+]] = arith.shli %[[ARG0]], %[[COUNT]]
// CHECK: arith.select %[[PAST]], %{{.+}}, %[[SHIFTED]]
func.func @left_shift(%a: !torch.int, %b: !torch.int) -> !torch.int {
  %r = torch.operator "torch.aten.__lshift__.int"(%a, %b) {tssa.schema = "aten::__lshift__.int(int a, int b) -> int"} : (!torch.int, !torch.int) -> !torch.int
  return %r : !torch.int
}
