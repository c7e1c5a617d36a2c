//===- TorchScalarsToArith.cpp - torch scalars as builtin scalars ---------===//
//
// Python's arithmetic in arith and math. An op is chosen by the base name of
// its schema (`aten::add`) and by the types of its operands, so that one entry
// serves all overloads (`add.int`, `add.float_int`, ...), registered or not.
//
//===----------------------------------------------------------------------===//

#include "TorchScalarsToArith.h"
#include "ScalarOpBuilder.h"

#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"
#include "ssa-compiler/Dialect/TorchConversion/IR/TorchConversionDialect.h"

#include "mlir/Dialect/Math/IR/Math.h"
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
