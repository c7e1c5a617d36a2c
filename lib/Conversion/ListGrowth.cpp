//===- ListGrowth.cpp - lists that loops make longer ----------------------===//

#include "ListGrowth.h"
#include "TensorTypes.h"

#include "ssa-compiler/Support/SourceLocation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ssa_compiler;

static bool isNamed(Operation *op, StringRef name) {
  return op && op->getName().getStringRef() == name;
}

/// Whether a value is a tensor of zeros whose first rows are those of a buffer.
static bool isEnlarged(Value value, Value buffer) {
  Operation *put = skipCasts(value).getDefiningOp();
  return isNamed(put, "torch.aten.slice_scatter") &&
         isNamed(skipCasts(put->getOperand(0)).getDefiningOp(),
                 "torch.aten.zeros") &&
         skipCasts(put->getOperand(1)) == buffer;
}

/// How many rows a condition asks for: `length + rows <= size of buffer`.
static std::optional<int64_t> getRows(Value condition, Value buffer) {
  constexpr int64_t kMostRows = 64;
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::sle)
    return std::nullopt;
  Operation *toInt = compare.getRhs().getDefiningOp();
  if (!isNamed(toInt, "torch_c.to_i64"))
    return std::nullopt;
  Operation *size = toInt->getOperand(0).getDefiningOp();
  if (!isNamed(size, "torch.aten.size.int") ||
      skipCasts(size->getOperand(0)) != buffer)
    return std::nullopt;
  auto sum = compare.getLhs().getDefiningOp<arith::AddIOp>();
  APInt rows;
  if (!sum || !matchPattern(sum.getRhs(), m_ConstantInt(&rows)) ||
      !rows.isStrictlyPositive() || rows.sgt(kMostRows))
    return std::nullopt;
  return rows.getSExtValue();
}

std::optional<int64_t> ListGrowth::measure(Value value) {
  value = skipCasts(value);
  if (value == buffer)
    return 0;
  Operation *op = value.getDefiningOp();
  if (isNamed(op, "torch.aten.select_scatter") ||
      isNamed(op, "torch.aten.slice_scatter"))
    return measure(op->getOperand(0));
  if (isa_and_nonnull<scf::IfOp>(op))
    return measureBranch(cast<OpResult>(value));
  return std::nullopt;
}

std::optional<int64_t> ListGrowth::measureBranch(OpResult result) {
  auto branch = cast<scf::IfOp>(result.getOwner());
  unsigned number = result.getResultNumber();
  Value then = skipCasts(branch.thenYield().getOperand(number));
  Value otherwise = branch.elseYield().getOperand(number);
  std::optional<int64_t> most = measure(then);
  if (!most)
    return std::nullopt;
  if (isEnlarged(otherwise, then)) {
    std::optional<int64_t> rows = getRows(branch.getCondition(), then);
    if (!rows)
      return std::nullopt;
    larger.push_back(result);
    return *most + *rows;
  }
  std::optional<int64_t> other = measure(otherwise);
  if (!other)
    return std::nullopt;
  return std::max(*most, *other);
}

void ListGrowth::keepSize(OpBuilder &builder) {
  for (OpResult result : larger) {
    auto branch = cast<scf::IfOp>(result.getOwner());
    Location loc = branch.getLoc();
    builder.setInsertionPoint(branch);
    cf::AssertOp::create(
        builder, loc, branch.getCondition(),
        withSourceLine("unsupported: a list that a loop makes longer by more "
                       "than 1 GiB, or 16,777,216 times",
                       loc));
    // Casts that hide sizes stay with the uses.
    result.replaceAllUsesWith(
        branch.thenYield().getOperand(result.getResultNumber()));
  }
}
