//===- ExpandFloatToInt.cpp - double to int64 in integer arithmetic -------===//
//
// IREE's virtual machine, which runs scalar code, has no conversion from double
// to int64. This one takes the bits of the double apart (IEEE 754 binary64).
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_EXPANDFLOATTOINTPASS
#include "ssa-compiler/Conversion/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

/// Truncates `value` (f64) towards zero. Correct for |value| < 2**63; any other
/// value has no meaning as an int64, as for arith.fptosi.
static Value buildTruncation(OpBuilder &builder, Location loc, Value value) {
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantIntOp::create(builder, loc, number, 64);
  };
  Value bits =
      arith::BitcastOp::create(builder, loc, builder.getI64Type(), value);
  Value fraction = arith::AndIOp::create(builder, loc, bits,
                                         constant((int64_t(1) << 52) - 1));
  // Subnormal numbers have no implicit one, but truncate to zero with it as
  // well.
  Value significand =
      arith::OrIOp::create(builder, loc, fraction, constant(int64_t(1) << 52));
  Value biased = arith::AndIOp::create(
      builder, loc, arith::ShRUIOp::create(builder, loc, bits, constant(52)),
      constant(0x7ff));
  // The value is significand * 2**exponent.
  Value exponent =
      arith::SubIOp::create(builder, loc, biased, constant(1023 + 52));
  Value zero = constant(0);
  Value limit = constant(63);
  auto clampShift = [&](Value amount) -> Value {
    Value atLeastZero = arith::MaxSIOp::create(builder, loc, amount, zero);
    return arith::MinSIOp::create(builder, loc, atLeastZero, limit);
  };
  Value left =
      arith::ShLIOp::create(builder, loc, significand, clampShift(exponent));
  Value right = arith::ShRUIOp::create(
      builder, loc, significand,
      clampShift(arith::SubIOp::create(builder, loc, zero, exponent)));
  Value isLarge = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                        exponent, zero);
  Value magnitude = arith::SelectOp::create(builder, loc, isLarge, left, right);
  Value isNegative = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, bits, zero);
  return arith::SelectOp::create(
      builder, loc, isNegative,
      arith::SubIOp::create(builder, loc, zero, magnitude), magnitude);
}

namespace {

struct ExpandFloatToInt final
    : ssa_compiler::impl::ExpandFloatToIntPassBase<ExpandFloatToInt> {
  using Base::Base;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](arith::FPToSIOp op) {
      if (!op.getIn().getType().isF64() || !op.getType().isInteger(64))
        return;
      rewriter.setInsertionPoint(op);
      rewriter.replaceOp(op,
                         buildTruncation(rewriter, op.getLoc(), op.getIn()));
    });
  }
};

} // namespace
