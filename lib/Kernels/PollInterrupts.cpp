//===- PollInterrupts.cpp - kernels that stop when they are told to -------===//
//
// Nothing stops a function of machine code from outside. A kernel looks at a
// word of its status buffer in each trip of its loops.
//
//===----------------------------------------------------------------------===//

#include "Roles.h"
#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/CheckedArithmetic.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_POLLINTERRUPTSPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

/// Operations on single elements that are done before anyone misses an answer:
/// some milliseconds, some tenths of a second if all are transcendental.
/// Watching for an interrupt costs the host a microsecond, more than small
/// programs take.
static constexpr int64_t kMostUnpolled = int64_t(1) << 22;

/// How many operations on single elements an op stands for; none if that is
/// dynamic, or too large to count.
static std::optional<int64_t> countWork(Operation *op) {
  int64_t times = 1;
  auto repeat = [&](int64_t count) -> bool {
    std::optional<int64_t> product = llvm::checkedMul(times, count);
    times = product.value_or(0);
    return product && count >= 0;
  };
  if (auto generic = dyn_cast<linalg::LinalgOp>(op)) {
    for (int64_t size : generic.getStaticLoopRanges())
      if (!repeat(size)) // dynamic sizes are negative
        return std::nullopt;
  } else if (isa<LoopLikeOpInterface>(op)) {
    std::optional<APInt> trips =
        cast<LoopLikeOpInterface>(op).getStaticTripCount();
    if (!trips || trips->getActiveBits() > 62 || !repeat(trips->getZExtValue()))
      return std::nullopt;
  } else if (isa<memref::CopyOp>(op)) {
    auto type = dyn_cast<ShapedType>(op->getOperand(0).getType());
    if (!type || !type.hasStaticShape() || !repeat(type.getNumElements()))
      return std::nullopt;
  }
  int64_t work = 1;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block) {
        std::optional<int64_t> more = countWork(&inner);
        std::optional<int64_t> sum =
            more ? llvm::checkedAdd(work, *more) : std::nullopt;
        if (!sum)
          return std::nullopt;
        work = *sum;
      }
  return llvm::checkedMul(times, work);
}

/// The blocks at whose start a kernel polls: of loops that may run for long. A
/// counted loop within another one is left alone: its trips are few, or the
/// loop around it would not have come so far.
static SmallVector<Block *> findPolls(func::FuncOp function) {
  std::optional<int64_t> work = countWork(function);
  if (work && *work <= kMostUnpolled)
    return {};
  SmallVector<Block *> blocks;
  function.walk([&](Operation *op) {
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      blocks.push_back(loop.getBeforeBody());
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      if (!loop->getParentOfType<LoopLikeOpInterface>())
        blocks.push_back(loop.getBody());
  });
  return blocks;
}

namespace {
struct PollInterruptsPass
    : public ssa_compiler::impl::PollInterruptsPassBase<PollInterruptsPass> {
  using PollInterruptsPassBase::PollInterruptsPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    SmallVector<Block *> blocks = findPolls(function);
    if (blocks.empty())
      return;
    int64_t scalars = function.getNumResults();
    if (auto sizes = function->getAttrOfType<IntegerAttr>("kernel.sizes"))
      scalars -= sizes.getInt();
    Block &entry = function.getBody().front();
    unsigned number = entry.getNumArguments();
    BlockArgument status =
        entry.addArgument(getStatusType(function, scalars), function.getLoc());
    function.setType(FunctionType::get(&getContext(), entry.getArgumentTypes(),
                                       function.getResultTypes()));
    setRole(function, number, "status");

    OpBuilder builder = OpBuilder::atBlockBegin(&entry);
    Location loc = function.getLoc();
    Type i64 = builder.getI64Type();
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIntOp::create(builder, loc, i64, value);
    };
    Value base =
        memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, status);
    Value address = arith::IndexCastOp::create(builder, loc, i64, base);
    address = arith::AddIOp::create(builder, loc, address,
                                    constant(sizeof(int64_t) * kInterrupt));
    Value word = LLVM::IntToPtrOp::create(
        builder, loc, LLVM::LLVMPointerType::get(&getContext()), address);
    Value zero = constant(0);
    for (Block *block : blocks) {
      builder.setInsertionPointToStart(block);
      Value told = LLVM::LoadOp::create(builder, loc, i64, word,
                                        /*alignment=*/0, /*isVolatile=*/true);
      Value goesOn = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq, told, zero);
      cf::AssertOp::create(builder, loc, goesOn, kInterrupted);
    }
  }
};
} // namespace
