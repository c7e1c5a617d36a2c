//===- TorchScalarsToArith.cpp - torch scalars as builtin scalars ---------===//
//
// Python's arithmetic in arith and math. An op is chosen by the base name of
// its schema (`aten::add`) and by the types of its operands, so that one entry
// serves all overloads (`add.int`, `add.float_int`, ...), registered or not.
//
//===----------------------------------------------------------------------===//

#include "TorchScalarsToArith.h"

#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"
#include "ssa-compiler/Dialect/TorchConversion/IR/TorchConversionDialect.h"
#include "ssa-compiler/Support/SourceLocation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace ssa_compiler;

bool ssa_compiler::isTorchScalarType(Type type) {
  return isa<torch::IntType, torch::FloatType, torch::BoolType>(type);
}

Type ssa_compiler::getBuiltinScalarType(Type type) {
  Builder builder(type.getContext());
  if (isa<torch::IntType>(type))
    return builder.getI64Type();
  if (isa<torch::FloatType>(type))
    return builder.getF64Type();
  if (isa<torch::BoolType>(type))
    return builder.getI1Type();
  return type;
}

Value ssa_compiler::toBuiltinScalar(OpBuilder &builder, Location loc,
                                    Value value) {
  Type type = value.getType();
  if (isa<torch::IntType>(type))
    return builder.createOrFold<torch_c::ToI64Op>(loc, value);
  if (isa<torch::FloatType>(type))
    return builder.createOrFold<torch_c::ToF64Op>(loc, value);
  if (isa<torch::BoolType>(type))
    return builder.createOrFold<torch_c::ToI1Op>(loc, value);
  return value;
}

Value ssa_compiler::toTorchScalar(OpBuilder &builder, Location loc, Value value,
                                  Type type) {
  if (value.getType() == type)
    return value;
  if (isa<torch::IntType>(type))
    return torch_c::FromI64Op::create(builder, loc, value);
  if (isa<torch::FloatType>(type))
    return torch_c::FromF64Op::create(builder, loc, value);
  assert(isa<torch::BoolType>(type) && "expected a torch scalar type");
  return torch_c::FromI1Op::create(builder, loc, value);
}

namespace {

/// Builds the value of one scalar op. Each method returns null if there is no
/// counterpart.
class ScalarOpBuilder {
public:
  ScalarOpBuilder(OpBuilder &builder, Location loc)
      : builder(builder), loc(loc) {}

  Value build(StringRef name, ValueRange args, Type resultType);

private:
  Value buildUnary(StringRef name, Value arg, Type resultType);
  Value buildBinary(StringRef name, Value lhs, Value rhs, Type resultType);
  Value buildCompare(StringRef name, Value lhs, Value rhs);
  Value buildIntDivision(StringRef name, Value lhs, Value rhs);
  Value buildFloatDivision(StringRef name, Value lhs, Value rhs);
  Value buildShift(StringRef name, Value lhs, Value rhs);
  Value buildTrueDivision(Value lhs, Value rhs);
  Value buildRoundingError(Value value, Value rounded);
  Value buildProductError(Value lhs, Value rhs, Value product);
  Value buildExactCompare(arith::CmpFPredicate predicate, Value integer,
                          Value number);
  void checkDomain(StringRef name, Value arg);
  void checkRange(StringRef name, Value arg, Value result);
  void require(Value condition, StringRef message) {
    cf::AssertOp::create(builder, loc, condition, withSourceLine(message, loc));
  }
  Value floatConstant(double value) {
    return create<arith::ConstantOp>(builder.getF64FloatAttr(value));
  }
  Value intConstant(int64_t value) {
    return create<arith::ConstantOp>(builder.getI64IntegerAttr(value));
  }
  Value convert(Value value, Type type);

  template <typename OpTy, typename... Args> Value create(Args &&...args) {
    return OpTy::create(builder, loc, std::forward<Args>(args)...);
  }
  Value zero(Type type) {
    return create<arith::ConstantOp>(builder.getZeroAttr(type));
  }

  OpBuilder &builder;
  Location loc;
};

bool isFloat(Value value) { return isa<FloatType>(value.getType()); }
bool isBool(Value value) { return value.getType().isInteger(1); }

/// Python's conversion: truncation to int, != 0 to bool.
Value ScalarOpBuilder::convert(Value value, Type type) {
  Type from = value.getType();
  if (from == type)
    return value;
  if (type.isInteger(1))
    return isFloat(value) ? create<arith::CmpFOp>(arith::CmpFPredicate::UNE,
                                                  value, zero(from))
                          : create<arith::CmpIOp>(arith::CmpIPredicate::ne,
                                                  value, zero(from));
  if (isa<FloatType>(type))
    return isBool(value) ? create<arith::UIToFPOp>(type, value)
                         : create<arith::SIToFPOp>(type, value);
  if (isFloat(value)) {
    // -2**63 is an int64, 2**63 is not.
    Value isInt64 = create<arith::AndIOp>(
        create<arith::CmpFOp>(arith::CmpFPredicate::OGE, value,
                              floatConstant(-std::ldexp(1.0, 63))),
        create<arith::CmpFOp>(arith::CmpFPredicate::OLT, value,
                              floatConstant(std::ldexp(1.0, 63))));
    require(isInt64, "OverflowError: float does not fit an int of 64 bits");
    return create<arith::FPToSIOp>(type, value);
  }
  return create<arith::ExtUIOp>(type, value);
}

/// Floor division and the remainder with the sign of the divisor. The divisor
/// is checked, since eager raises where the machine would trap.
Value ScalarOpBuilder::buildIntDivision(StringRef name, Value lhs, Value rhs) {
  Value none = zero(rhs.getType());
  APInt constant;
  bool isKnown = matchPattern(rhs, m_ConstantInt(&constant));
  if (!isKnown || constant.isZero())
    require(create<arith::CmpIOp>(arith::CmpIPredicate::ne, rhs, none),
            "ZeroDivisionError: integer division or modulo by zero");
  // The quotient of -2**63 and -1 wraps around; the machine would trap.
  Value isMinusOne;
  if (!isKnown || constant.isAllOnes()) {
    isMinusOne =
        create<arith::CmpIOp>(arith::CmpIPredicate::eq, rhs, intConstant(-1));
    rhs = create<arith::SelectOp>(isMinusOne, intConstant(1), rhs);
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

/// Python's shifts, whose count is not negative, as the importer checks.
Value ScalarOpBuilder::buildShift(StringRef name, Value lhs, Value rhs) {
  Value most = intConstant(63);
  Value isPast = create<arith::CmpIOp>(arith::CmpIPredicate::sgt, rhs, most);
  Value count = create<arith::SelectOp>(isPast, most, rhs);
  if (name == "__rshift__")
    return create<arith::ShRSIOp>(lhs, count);
  return create<arith::SelectOp>(isPast, intConstant(0),
                                 create<arith::ShLIOp>(lhs, count));
}

/// Python's math module raises where the function is not defined.
void ScalarOpBuilder::checkDomain(StringRef name, Value arg) {
  if (name == "sin" || name == "cos") {
    Value infinity = floatConstant(std::numeric_limits<double>::infinity());
    Value isDefined = create<arith::CmpFOp>(
        arith::CmpFPredicate::UNE, create<math::AbsFOp>(arg), infinity);
    return require(isDefined, "ValueError: math domain error");
  }
  bool isLog = name == "log" || name == "log2" || name == "log10";
  if (!isLog && name != "sqrt")
    return;
  Value isDefined = create<arith::CmpFOp>(isLog ? arith::CmpFPredicate::UGT
                                                : arith::CmpFPredicate::UGE,
                                          arg, zero(arg.getType()));
  require(isDefined, "ValueError: math domain error");
}

/// And where a result of finite numbers is too large.
void ScalarOpBuilder::checkRange(StringRef name, Value arg, Value result) {
  if (name != "exp")
    return;
  Value infinity = floatConstant(std::numeric_limits<double>::infinity());
  Value isFinite =
      create<arith::CmpFOp>(arith::CmpFPredicate::UNE, result, infinity);
  Value isInfinite =
      create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, arg, infinity);
  require(create<arith::OrIOp>(isFinite, isInfinite),
          "OverflowError: math range error");
}

/// An int compared with a float, by value: where the int is rounded to the
/// float, what it was rounded by decides.
Value ScalarOpBuilder::buildExactCompare(arith::CmpFPredicate predicate,
                                         Value integer, Value number) {
  Value rounded = create<arith::SIToFPOp>(builder.getF64Type(), integer);
  Value isRounded =
      create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, rounded, number);
  return create<arith::SelectOp>(
      isRounded,
      create<arith::CmpFOp>(predicate, buildRoundingError(integer, rounded),
                            floatConstant(0.0)),
      create<arith::CmpFOp>(predicate, rounded, number));
}

Value ScalarOpBuilder::buildCompare(StringRef name, Value lhs, Value rhs) {
  using IntPredicate = arith::CmpIPredicate;
  using FloatPredicate = arith::CmpFPredicate;
  auto predicates =
      llvm::StringSwitch<
          std::optional<std::pair<IntPredicate, FloatPredicate>>>(name)
          .Case("eq", {{IntPredicate::eq, FloatPredicate::OEQ}})
          .Case("ne", {{IntPredicate::ne, FloatPredicate::UNE}})
          .Case("lt", {{IntPredicate::slt, FloatPredicate::OLT}})
          .Case("le", {{IntPredicate::sle, FloatPredicate::OLE}})
          .Case("gt", {{IntPredicate::sgt, FloatPredicate::OGT}})
          .Case("ge", {{IntPredicate::sge, FloatPredicate::OGE}})
          .Default(std::nullopt);
  if (!predicates)
    return {};
  if (isFloat(lhs) && isFloat(rhs))
    return create<arith::CmpFOp>(predicates->second, lhs, rhs);
  if (isFloat(rhs))
    return buildExactCompare(predicates->second,
                             convert(lhs, builder.getI64Type()), rhs);
  if (isFloat(lhs)) {
    static const llvm::StringMap<StringRef> swapped = {
        {"eq", "eq"}, {"ne", "ne"}, {"lt", "gt"},
        {"le", "ge"}, {"gt", "lt"}, {"ge", "le"}};
    return buildCompare(swapped.lookup(name), rhs, lhs);
  }
  // Bools compare as the ints 0 and 1.
  lhs = convert(lhs, builder.getI64Type());
  rhs = convert(rhs, builder.getI64Type());
  return create<arith::CmpIOp>(predicates->first, lhs, rhs);
}

Value ScalarOpBuilder::buildBinary(StringRef name, Value lhs, Value rhs,
                                   Type resultType) {
  if (isBool(lhs) && isBool(rhs)) {
    if (name == "__and__")
      return create<arith::AndIOp>(lhs, rhs);
    if (name == "__or__")
      return create<arith::OrIOp>(lhs, rhs);
    if (name == "__xor__")
      return create<arith::XOrIOp>(lhs, rhs);
  }
  if (Value compared = buildCompare(name, lhs, rhs))
    return compared;
  // True division and powers of ints are computed in double.
  Type f64 = builder.getF64Type();
  bool computesInFloat = isFloat(lhs) || isFloat(rhs) || name == "div" ||
                         (name == "pow" && isa<FloatType>(resultType));
  Type common = computesInFloat ? f64 : builder.getI64Type();
  bool dividesInts = name == "div" && !isFloat(lhs) && !isFloat(rhs);
  Value dividend = lhs, divisor = rhs;
  lhs = convert(lhs, common);
  rhs = convert(rhs, common);
  if (computesInFloat) {
    if (name == "div" || name == "floordiv" || name == "remainder") {
      Value isNonZero = create<arith::CmpFOp>(arith::CmpFPredicate::UNE, rhs,
                                              zero(rhs.getType()));
      cf::AssertOp::create(
          builder, loc, isNonZero,
          withSourceLine("ZeroDivisionError: float division by zero", loc));
    }
    if (dividesInts)
      return buildTrueDivision(convert(dividend, builder.getI64Type()),
                               convert(divisor, builder.getI64Type()));
    if (name == "floordiv" || name == "remainder")
      return buildFloatDivision(name, lhs, rhs);
    return llvm::StringSwitch<function_ref<Value()>>(name)
        .Case("add", [&] { return create<arith::AddFOp>(lhs, rhs); })
        .Case("sub", [&] { return create<arith::SubFOp>(lhs, rhs); })
        .Case("mul", [&] { return create<arith::MulFOp>(lhs, rhs); })
        .Case("div", [&] { return create<arith::DivFOp>(lhs, rhs); })
        .Case("pow", [&] { return create<math::PowFOp>(lhs, rhs); })
        .Case("min",
              [&] {
                Value less =
                    create<arith::CmpFOp>(arith::CmpFPredicate::OLT, rhs, lhs);
                return create<arith::SelectOp>(less, rhs, lhs);
              })
        .Case("max",
              [&] {
                Value more =
                    create<arith::CmpFOp>(arith::CmpFPredicate::OGT, rhs, lhs);
                return create<arith::SelectOp>(more, rhs, lhs);
              })
        .Default([] { return Value(); })();
  }
  if (name == "floordiv" || name == "remainder")
    return buildIntDivision(name, lhs, rhs);
  if (name == "__lshift__" || name == "__rshift__")
    return buildShift(name, lhs, rhs);
  return llvm::StringSwitch<function_ref<Value()>>(name)
      .Case("add", [&] { return create<arith::AddIOp>(lhs, rhs); })
      .Case("sub", [&] { return create<arith::SubIOp>(lhs, rhs); })
      .Case("mul", [&] { return create<arith::MulIOp>(lhs, rhs); })
      .Case("min", [&] { return create<arith::MinSIOp>(lhs, rhs); })
      .Case("max", [&] { return create<arith::MaxSIOp>(lhs, rhs); })
      .Case("__and__", [&] { return create<arith::AndIOp>(lhs, rhs); })
      .Case("__or__", [&] { return create<arith::OrIOp>(lhs, rhs); })
      .Case("__xor__", [&] { return create<arith::XOrIOp>(lhs, rhs); })
      .Default([] { return Value(); })();
}

Value ScalarOpBuilder::buildUnary(StringRef name, Value arg, Type resultType) {
  if (name == "Int" || name == "Float" || name == "Bool" ||
      name == "ScalarImplicit" || name == "IntImplicit" ||
      name == "FloatImplicit")
    return convert(arg, resultType);
  if (name == "__not__")
    return create<arith::XOrIOp>(
        convert(arg, builder.getI1Type()),
        create<arith::ConstantIntOp>(/*value=*/1, /*width=*/1));
  if (isBool(arg))
    arg = convert(arg, builder.getI64Type());
  if (name == "neg")
    return isFloat(arg) ? create<arith::NegFOp>(arg)
                        : create<arith::SubIOp>(zero(arg.getType()), arg);
  if (name == "abs")
    return isFloat(arg) ? create<math::AbsFOp>(arg) : create<math::AbsIOp>(arg);
  if (!isFloat(arg) && (name == "ceil" || name == "floor"))
    return arg;
  Value wide = convert(arg, builder.getF64Type());
  checkDomain(name, wide);
  Value result =
      llvm::StringSwitch<function_ref<Value()>>(name)
          .Case("ceil", [&] { return create<math::CeilOp>(wide); })
          .Case("floor", [&] { return create<math::FloorOp>(wide); })
          .Case("trunc", [&] { return create<math::TruncOp>(wide); })
          .Case("round", [&] { return create<math::RoundEvenOp>(wide); })
          .Case("fabs", [&] { return create<math::AbsFOp>(wide); })
          .Case("sqrt", [&] { return create<math::SqrtOp>(wide); })
          .Case("exp", [&] { return create<math::ExpOp>(wide); })
          .Case("log", [&] { return create<math::LogOp>(wide); })
          .Case("log2", [&] { return create<math::Log2Op>(wide); })
          .Case("log10", [&] { return create<math::Log10Op>(wide); })
          .Case("sin", [&] { return create<math::SinOp>(wide); })
          .Case("cos", [&] { return create<math::CosOp>(wide); })
          .Case("tanh", [&] { return create<math::TanhOp>(wide); })
          .Default([] { return Value(); })();
  if (result)
    checkRange(name, wide, result);
  return result;
}

Value ScalarOpBuilder::build(StringRef name, ValueRange args, Type resultType) {
  Value result;
  if (args.size() == 1)
    result = buildUnary(name, args[0], resultType);
  else if (args.size() == 2)
    result = buildBinary(name, args[0], args[1], resultType);
  return result ? convert(result, resultType) : result;
}

} // namespace

LogicalResult ssa_compiler::convertScalarOp(RewriterBase &rewriter,
                                            Operation *op) {
  auto schemaOp = dyn_cast<torch::TorchSchemaOpInterface>(op);
  if (!schemaOp || !schemaOp.getSchema() || op->getNumResults() != 1 ||
      !isTorchScalarType(op->getResult(0).getType()) ||
      !llvm::all_of(op->getOperandTypes(), isTorchScalarType))
    return failure();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  SmallVector<Value> args;
  for (Value operand : op->getOperands())
    args.push_back(toBuiltinScalar(rewriter, op->getLoc(), operand));
  // Ops of the user's may have the name of one of these.
  auto [space, name] = StringRef(schemaOp.getSchema()->name).split("::");
  if (space != "aten" && space != "prim")
    return failure();
  Type resultType = op->getResult(0).getType();
  Value result = ScalarOpBuilder(rewriter, op->getLoc())
                     .build(name, args, getBuiltinScalarType(resultType));
  if (!result)
    return failure();
  rewriter.replaceOp(op,
                     toTorchScalar(rewriter, op->getLoc(), result, resultType));
  return success();
}
