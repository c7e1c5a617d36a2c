//===- ScalarDivision.cpp - Python's divisions in arith and math ----------===//
//
// Floor division, remainders and true division, with eager's rounding, signs
// and errors.
//
//===----------------------------------------------------------------------===//

#include "ScalarOpBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace ssa_compiler;

/// Floor division and the remainder with the sign of the divisor. The divisor
/// is checked, since eager raises where the machine would trap.
Value ScalarOpBuilder::buildIntDivision(StringRef name, Value lhs, Value rhs) {
  Value none = zero(rhs.getType());
  APInt constant;
  bool isKnown = matchPattern(rhs, m_ConstantInt(&constant));
  if (!isKnown || constant.isZero())
    require(create<arith::CmpIOp>(arith::CmpIPredicate::ne, rhs, none),
            "ZeroDivisionError: integer division or modulo by zero");
  // The quotient of -2**63 and -1 wraps around; the machine would trap. It does
  // for 0, too, where the division is moved in front of the check: that waits
  // for effects, and nothing ties a pure op to it.
  Value isMinusOne;
  if (!isKnown || constant.isAllOnes()) {
    isMinusOne =
        create<arith::CmpIOp>(arith::CmpIPredicate::eq, rhs, intConstant(-1));
    Value traps = create<arith::CmpIOp>(
        arith::CmpIPredicate::ult, create<arith::AddIOp>(rhs, intConstant(1)),
        intConstant(2));
    rhs = create<arith::SelectOp>(traps, intConstant(1), rhs);
  }
  if (name == "floordiv") {
    Value quotient = create<arith::FloorDivSIOp>(lhs, rhs);
    if (!isMinusOne)
      return quotient;
    return create<arith::SelectOp>(isMinusOne, create<arith::SubIOp>(none, lhs),
                                   quotient);
  }
  Value remainder = create<arith::RemSIOp>(lhs, rhs);
  Value isNonZero =
      create<arith::CmpIOp>(arith::CmpIPredicate::ne, remainder, none);
  auto isNegative = [&](Value value) {
    return create<arith::CmpIOp>(arith::CmpIPredicate::slt, value, none);
  };
  Value isDivisorNegative = isNegative(rhs);
  Value signsDiffer =
      create<arith::XOrIOp>(isNegative(remainder), isDivisorNegative);
  Value needsShift = create<arith::AndIOp>(isNonZero, signsDiffer);
  return create<arith::SelectOp>(
      needsShift, create<arith::AddIOp>(remainder, rhs), remainder);
}

/// Python's float_divmod: the remainder has the sign of the divisor, and the
/// quotient is the one that fits it (1.0 // 0.1 is 9.0, not floor(10.0)); what
/// is zero has the sign of the divisor, or of the quotient.
Value ScalarOpBuilder::buildFloatDivision(StringRef name, Value lhs,
                                          Value rhs) {
  using Predicate = arith::CmpFPredicate;
  Value none = zero(rhs.getType());
  auto isNegative = [&](Value value) {
    return create<arith::CmpFOp>(Predicate::OLT, value, none);
  };
  auto isZero = [&](Value value) {
    return create<arith::CmpFOp>(Predicate::OEQ, value, none);
  };
  Value remainder = create<arith::RemFOp>(lhs, rhs);
  Value isExact = isZero(remainder);
  Value isDivisorNegative = isNegative(rhs);
  Value signsDiffer =
      create<arith::XOrIOp>(isNegative(remainder), isDivisorNegative);
  Value isInexact = create<arith::XOrIOp>(
      isExact, create<arith::ConstantIntOp>(/*value=*/1, /*width=*/1));
  Value needsShift = create<arith::AndIOp>(isInexact, signsDiffer);
  Value minusZero = floatConstant(-0.0);
  if (name == "remainder") {
    Value signedZero =
        create<arith::SelectOp>(isDivisorNegative, minusZero, none);
    Value shifted = create<arith::SelectOp>(
        needsShift, create<arith::AddFOp>(remainder, rhs), remainder);
    return create<arith::SelectOp>(isExact, signedZero, shifted);
  }
  Value exact = create<arith::SubFOp>(lhs, remainder);
  Value quotient = create<arith::DivFOp>(exact, rhs);
  quotient = create<arith::SelectOp>(
      needsShift, create<arith::SubFOp>(quotient, floatConstant(1.0)),
      quotient);
  // `quotient` is an integer up to rounding.
  Value floored = create<math::FloorOp>(quotient);
  Value rest = create<arith::SubFOp>(quotient, floored);
  Value roundsUp =
      create<arith::CmpFOp>(Predicate::OGT, rest, floatConstant(0.5));
  Value rounded = create<arith::SelectOp>(
      roundsUp, create<arith::AddFOp>(floored, floatConstant(1.0)), floored);
  Value bits = create<arith::BitcastOp>(builder.getI64Type(),
                                        create<arith::DivFOp>(lhs, rhs));
  Value hasSign =
      create<arith::CmpIOp>(arith::CmpIPredicate::slt, bits, intConstant(0));
  Value signedZero = create<arith::SelectOp>(hasSign, minusZero, none);
  return create<arith::SelectOp>(isZero(quotient), signedZero, rounded);
}

/// What an int differs by from the double that it is rounded to, exactly: the
/// int without its low bits is a double, and so are the low bits.
Value ScalarOpBuilder::buildRoundingError(Value value, Value rounded) {
  Type f64 = builder.getF64Type();
  Value high = create<arith::AndIOp>(value, intConstant(~int64_t(0x7ff)));
  Value low = create<arith::AndIOp>(value, intConstant(0x7ff));
  Value rest =
      create<arith::SubFOp>(create<arith::SIToFPOp>(f64, high), rounded);
  return create<arith::AddFOp>(rest, create<arith::SIToFPOp>(f64, low));
}

/// What the product of two doubles differs by from what it is rounded to,
/// exactly, by Dekker's products of halves: IREE's virtual machine has no fused
/// multiply-add, though it has an op for it.
Value ScalarOpBuilder::buildProductError(Value lhs, Value rhs, Value product) {
  auto split = [&](Value value) -> std::pair<Value, Value> {
    Value scaled =
        create<arith::MulFOp>(value, floatConstant(std::ldexp(1.0, 27) + 1));
    Value high =
        create<arith::SubFOp>(scaled, create<arith::SubFOp>(scaled, value));
    return {high, create<arith::SubFOp>(value, high)};
  };
  auto multiply = [&](Value one, Value other) {
    return create<arith::MulFOp>(one, other);
  };
  auto [lhsHigh, lhsLow] = split(lhs);
  auto [rhsHigh, rhsLow] = split(rhs);
  Value error = create<arith::SubFOp>(multiply(lhsHigh, rhsHigh), product);
  error = create<arith::AddFOp>(error, multiply(lhsHigh, rhsLow));
  error = create<arith::AddFOp>(error, multiply(lhsLow, rhsHigh));
  return create<arith::AddFOp>(error, multiply(lhsLow, rhsLow));
}

/// The quotient of two ints, rounded once: what it differs by from that of the
/// doubles that the ints are rounded to is added at the end.
Value ScalarOpBuilder::buildTrueDivision(Value lhs, Value rhs) {
  Type f64 = builder.getF64Type();
  Value dividend = create<arith::SIToFPOp>(f64, lhs);
  Value divisor = create<arith::SIToFPOp>(f64, rhs);
  Value quotient = create<arith::DivFOp>(dividend, divisor);
  Value product = create<arith::MulFOp>(quotient, divisor);
  Value rest =
      create<arith::SubFOp>(create<arith::SubFOp>(dividend, product),
                            buildProductError(quotient, divisor, product));
  Value low = create<arith::SubFOp>(
      buildRoundingError(lhs, dividend),
      create<arith::MulFOp>(quotient, buildRoundingError(rhs, divisor)));
  rest = create<arith::AddFOp>(rest, low);
  Value corrected =
      create<arith::AddFOp>(quotient, create<arith::DivFOp>(rest, divisor));
  // Of zero, the sign is that of the quotient.
  Value isZero =
      create<arith::CmpIOp>(arith::CmpIPredicate::eq, lhs, zero(lhs.getType()));
  return create<arith::SelectOp>(isZero, quotient, corrected);
}
