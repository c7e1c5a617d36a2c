//===- DistributeToThreads.cpp - kernels that run in one workgroup --------===//
//
// See ThreadPlan.h.
//
//===----------------------------------------------------------------------===//

#include "Roles.h"
#include "ThreadPlan.h"
#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_DISTRIBUTETOTHREADSPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

/// Whether anything in an op fulfils a condition, itself included.
static bool contains(Operation *op,
                     llvm::function_ref<bool(Operation *)> condition) {
  return op
      ->walk([&](Operation *inner) {
        return condition(inner) ? WalkResult::interrupt()
                                : WalkResult::advance();
      })
      .wasInterrupted();
}

static bool isStore(Operation *op) { return isa<memref::StoreOp>(op); }

/// Whether an op is for the first thread alone: it writes numbers one by one,
/// and nothing in it is distributed. Buffers are for all threads.
static bool isForOneThread(Operation *op) {
  if (isStore(op))
    return true;
  if (!isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op) || !contains(op, isStore))
    return false;
  return !contains(op, [](Operation *inner) {
    return isa<linalg::LinalgOp, memref::AllocOp>(inner) ||
           llvm::any_of(inner->getResultTypes(), llvm::IsaPred<MemRefType>);
  });
}

namespace {
/// Gives to the first thread what only one can do.
class OneThread {
public:
  OneThread(func::FuncOp function, Value isFirst)
      : function(function), isFirst(isFirst), builder(function.getContext()) {}

  void run() { visit(function.getBody().front()); }

private:
  /// Gives runs of such ops, and what they compute in between, to one thread.
  void visit(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (isForOneThread(&op))
        isolate(&op);
      else if (!isa<linalg::LinalgOp>(op))
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            visit(inner);
    }
  }

  void isolate(Operation *op) {
    Location loc = op->getLoc();
    bool mayFail =
        contains(op, [](Operation *inner) { return isa<cf::AssertOp>(inner); });
    builder.setInsertionPoint(op);
    auto branch = scf::IfOp::create(builder, loc, isFirst);
    branch->setAttr(kOneThread, builder.getUnitAttr());
    op->moveBefore(branch.thenBlock()->getTerminator());
    // What the others get to know.
    SmallVector<std::pair<Value, Value>> told;
    for (OpResult result : op->getResults())
      if (!result.use_empty())
        told.emplace_back(result, makeSlot(loc, result.getType()));
    Value running = mayFail ? makeSlot(loc, builder.getI32Type()) : Value();
    if (running) {
      builder.setInsertionPoint(op);
      store(loc, number(loc, 1), running);
    }
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    if (running)
      store(loc, number(loc, 0), running);
    for (auto [result, slot] : told)
      storeIn(loc, result, slot);
    builder.setInsertionPointAfter(branch);
    if (running) {
      Value state = memref::LoadOp::create(builder, loc, running);
      Value ended = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq, state, number(loc, 0));
      cf::AssertOp::create(builder, loc, ended, kStopped);
    }
    for (auto [result, slot] : told) {
      Value loaded = memref::LoadOp::create(builder, loc, slot);
      if (result.getType().isIndex())
        loaded =
            arith::IndexCastOp::create(builder, loc, result.getType(), loaded);
      result.replaceUsesWithIf(loaded, [&](OpOperand &use) {
        return !branch->isAncestor(use.getOwner());
      });
    }
  }

  Value number(Location loc, int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(),
                                        value);
  }

  void store(Location loc, Value value, Value slot) {
    memref::StoreOp::create(builder, loc, value, slot);
  }

  void storeIn(Location loc, Value value, Value slot) {
    if (value.getType().isIndex())
      value =
          arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value);
    store(loc, value, slot);
  }

  /// Memory for a number that the first thread tells the others. The backend
  /// knows no buffer of type index.
  Value makeSlot(Location loc, Type type) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&function.getBody().front());
    return memref::AllocOp::create(
        builder, loc,
        MemRefType::get({}, type.isIndex() ? builder.getI64Type() : type));
  }

  func::FuncOp function;
  Value isFirst;
  OpBuilder builder;
};

struct DistributeToThreadsPass
    : public ssa_compiler::impl::DistributeToThreadsPassBase<
          DistributeToThreadsPass> {
  using DistributeToThreadsPassBase::DistributeToThreadsPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    auto form = function->getAttrOfType<StringAttr>("kernel.form");
    if (!form || form.getValue() != "kernel" ||
        !function.getBody().hasOneBlock())
      return;
    if (threads < kWarp || !llvm::isPowerOf2_64(threads)) {
      function.emitError("unsupported: ") << threads << " threads";
      return signalPassFailure();
    }
    IRRewriter rewriter(&getContext());
    rewriter.setInsertionPointToStart(&function.getBody().front());
    Location loc = function.getLoc();
    Value thread = gpu::ThreadIdOp::create(rewriter, loc, gpu::Dimension::x);
    // From here on, threads are those of all workgroups.
    int64_t all = threads * getWorkgroups(function);
    if (all != threads) {
      Value before = arith::MulIOp::create(
          rewriter, loc,
          gpu::BlockIdOp::create(rewriter, loc, gpu::Dimension::x),
          arith::ConstantIndexOp::create(rewriter, loc, threads));
      thread = arith::AddIOp::create(rewriter, loc, before, thread);
    }
    Value isFirst =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, thread,
                              arith::ConstantIndexOp::create(rewriter, loc, 0));
    OneThread(function, isFirst).run();
    if (failed(insertBarriers(function, all)))
      return signalPassFailure();
    SmallVector<linalg::LinalgOp> ops;
    function.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops)
      emitThreadLoops(op, planThreads(op, all), thread, all, rewriter);
    function->setAttr(kThreads, rewriter.getI64IntegerAttr(threads));
  }
};
} // namespace
