//===- ThreadLoops.cpp - linalg ops as loops of threads -------------------===//
//
// See ThreadPlan.h.
//
//===----------------------------------------------------------------------===//

#include "ThreadPlan.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace ssa_compiler;

namespace {
/// Emits the loops of one op.
class Emitter {
public:
  Emitter(linalg::LinalgOp op, const ThreadPlan &plan, Value thread,
          int64_t threads, RewriterBase &builder)
      : op(op), plan(plan), thread(thread), threads(threads), builder(builder),
        loc(op.getLoc()) {}

  void run() {
    builder.setInsertionPoint(op);
    for (const Range &range : op.createLoopRanges(builder, loc))
      sizes.push_back(
          getValueOrCreateConstantIndexOp(builder, loc, range.size));
    indices.resize(sizes.size());
    if (plan.inOrder)
      runInOrder();
    else if (plan.parts > 1)
      runInParts();
    else
      runWhole();
    builder.eraseOp(op);
  }

private:
  Value index(int64_t number) {
    return arith::ConstantIndexOp::create(builder, loc, number);
  }

  Value multiply(ArrayRef<unsigned> loops) {
    Value product;
    for (unsigned loop : loops)
      product = product
                    ? arith::MulIOp::create(builder, loc, product, sizes[loop])
                          .getResult()
                    : sizes[loop];
    return product ? product : index(1);
  }

  /// Sets the indices of some loops from the number of an iteration; the last
  /// one is the innermost.
  void setIndices(ArrayRef<unsigned> loops, Value number) {
    for (unsigned loop : llvm::reverse(loops)) {
      if (loop == loops.front()) {
        indices[loop] = number;
        break;
      }
      indices[loop] = arith::RemUIOp::create(builder, loc, number, sizes[loop]);
      number = arith::DivUIOp::create(builder, loc, number, sizes[loop]);
    }
  }

  /// Runs a body for every step-th number from `first` up to `end`.
  void loop(Value first, Value end, Value step,
            llvm::function_ref<void(Value)> body) {
    auto made = scf::ForOp::create(builder, loc, first, end, step);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(made.getBody());
    body(made.getInductionVar());
  }

  /// Reduces numbers, every step-th from `first` on.
  SmallVector<Value> reduce(Value first, Value step, ValueRange starts) {
    auto made = scf::ForOp::create(builder, loc, first, multiply(plan.reduced),
                                   step, starts);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(made.getBody());
    setIndices(plan.reduced, made.getInductionVar());
    SmallVector<Value> reduced = compute(made.getRegionIterArgs());
    scf::YieldOp::create(builder, loc, reduced);
    return SmallVector<Value>(made.getResults());
  }

  SmallVector<Value> place(OpOperand &operand) {
    SmallVector<OpFoldResult> given(indices.begin(), indices.end());
    for (OpFoldResult &known : given)
      if (!cast<Value>(known))
        known = builder.getIndexAttr(0); // of no loop that the map uses
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<Value> found;
    for (OpFoldResult part : affine::makeComposedFoldedMultiResultAffineApply(
             builder, loc, map, given))
      found.push_back(getValueOrCreateConstantIndexOp(builder, loc, part));
    return found;
  }

  Value load(OpOperand &operand) {
    if (!isa<MemRefType>(operand.get().getType()))
      return operand.get();
    return memref::LoadOp::create(builder, loc, operand.get(), place(operand));
  }

  SmallVector<Value> loadResults() {
    SmallVector<Value> loaded;
    for (OpOperand &init : op.getDpsInitsMutable())
      loaded.push_back(load(init));
    return loaded;
  }

  void storeResults(ValueRange values) {
    for (auto [init, value] : llvm::zip_equal(op.getDpsInitsMutable(), values))
      memref::StoreOp::create(builder, loc, value, init.get(), place(init));
  }

  /// Computes one iteration.
  SmallVector<Value> compute(ValueRange carried) {
    IRMapping known;
    for (OpOperand *operand : op.getDpsInputOperands())
      if (BlockArgument argument = op.getMatchingBlockArgument(operand);
          !argument.use_empty())
        known.map(argument, load(*operand));
    for (auto [argument, value] :
         llvm::zip_equal(op.getRegionOutputArgs(), carried))
      known.map(argument, value);
    for (Operation &inner : op.getBlock()->without_terminator()) {
      if (auto asked = dyn_cast<linalg::IndexOp>(inner))
        known.map(asked.getResult(), indices[asked.getDim()]);
      else
        builder.clone(inner, known);
    }
    SmallVector<Value> made;
    for (Value value : op.getBlock()->getTerminator()->getOperands())
      made.push_back(known.lookupOrDefault(value));
    return made;
  }

  /// Each thread, or warp, computes whole results.
  void runWhole() {
    Value end = multiply(plan.parallel);
    if (plan.lanes == 1) {
      loop(thread, end, index(threads), [&](Value number) {
        setIndices(plan.parallel, number);
        if (plan.reduced.empty()) {
          SmallVector<Value> old = loadUsedResults();
          storeResults(compute(old));
        } else {
          storeResults(reduce(index(0), index(1), loadResults()));
        }
      });
      return;
    }
    Value warp = index(kWarp);
    Value first = arith::DivUIOp::create(builder, loc, thread, warp);
    Value lane = arith::RemUIOp::create(builder, loc, thread, warp);
    loop(first, end, index(threads / kWarp), [&](Value number) {
      setIndices(plan.parallel, number);
      SmallVector<Value> made = combineLanes(reduce(lane, warp, getStarts()));
      ifFirst(lane, [&] { storeResults(combine(loadResults(), made)); });
    });
  }

  /// What results had before, where the op asks for it.
  SmallVector<Value> loadUsedResults() {
    SmallVector<Value> loaded;
    for (auto [init, argument] :
         llvm::zip_equal(op.getDpsInitsMutable(), op.getRegionOutputArgs()))
      loaded.push_back(argument.use_empty() ? Value() : load(init));
    return loaded;
  }

  /// The first thread does all in the order of the loops.
  void runInOrder() {
    ifFirst(thread, [&] { nest(0); });
  }

  void nest(unsigned depth) {
    if (depth == sizes.size()) {
      storeResults(compute(loadResults()));
      return;
    }
    loop(index(0), sizes[depth], index(1), [&](Value number) {
      indices[depth] = number;
      nest(depth + 1);
    });
  }

  /// Parts of reductions are reduced by a thread or warp each, and then
  /// combined.
  void runInParts() {
    SmallVector<Value> buffers;
    Value results = multiply(plan.parallel);
    int64_t count = plan.parts;
    for (unsigned loop : plan.parallel)
      count *= op.getStaticLoopRanges()[loop];
    for (Operation *combiner : plan.combiners)
      buffers.push_back(memref::AllocOp::create(
          builder, loc,
          MemRefType::get({count}, combiner->getResult(0).getType())));
    // What was there may be read still.
    gpu::BarrierOp::create(builder, loc);
    Value lanes = index(plan.lanes), parts = index(plan.parts);
    Value first = arith::DivUIOp::create(builder, loc, thread, lanes);
    Value lane = arith::RemUIOp::create(builder, loc, thread, lanes);
    Value step = index(plan.lanes * plan.parts);
    loop(first, index(count), index(threads / plan.lanes), [&](Value number) {
      Value part = arith::DivUIOp::create(builder, loc, number, results);
      setIndices(plan.parallel,
                 arith::RemUIOp::create(builder, loc, number, results));
      Value begin = arith::MulIOp::create(builder, loc, part, lanes);
      begin = arith::AddIOp::create(builder, loc, begin, lane);
      SmallVector<Value> made = reduce(begin, step, getStarts());
      if (plan.lanes > 1)
        made = combineLanes(made);
      ifFirst(lane, [&] {
        for (auto [buffer, value] : llvm::zip_equal(buffers, made))
          memref::StoreOp::create(builder, loc, value, buffer, number);
      });
    });
    gpu::BarrierOp::create(builder, loc);
    loop(thread, results, index(threads), [&](Value number) {
      setIndices(plan.parallel, number);
      auto sum = scf::ForOp::create(builder, loc, index(0), parts, index(1),
                                    loadResults());
      {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToStart(sum.getBody());
        Value place =
            arith::MulIOp::create(builder, loc, sum.getInductionVar(), results);
        place = arith::AddIOp::create(builder, loc, place, number);
        SmallVector<Value> loaded;
        for (Value buffer : buffers)
          loaded.push_back(memref::LoadOp::create(builder, loc, buffer, place));
        scf::YieldOp::create(builder, loc,
                             combine(sum.getRegionIterArgs(), loaded));
      }
      storeResults(sum.getResults());
    });
  }

  void ifFirst(Value number, llvm::function_ref<void()> body) {
    Value isFirst = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, number, index(0));
    auto branch = scf::IfOp::create(builder, loc, isFirst);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    body();
  }

  /// Numbers that change nothing when they are combined with others.
  SmallVector<Value> getStarts() {
    SmallVector<Value> starts;
    for (Operation *combiner : plan.combiners)
      starts.push_back(arith::ConstantOp::create(
          builder, loc, *arith::getNeutralElement(combiner)));
    return starts;
  }

  SmallVector<Value> combine(ValueRange a, ValueRange b) {
    SmallVector<Value> made;
    for (auto [combiner, x, y] : llvm::zip_equal(plan.combiners, a, b))
      made.push_back(
          builder
              .create(OperationState(loc, combiner->getName(), ValueRange{x, y},
                                     x.getType(), combiner->getAttrs()))
              ->getResult(0));
    return made;
  }

  /// Combines what the threads of a warp have: all of them get it.
  SmallVector<Value> combineLanes(SmallVector<Value> values) {
    for (int64_t offset = kWarp / 2; offset != 0; offset /= 2) {
      SmallVector<Value> others;
      for (Value value : values)
        others.push_back(exchange(value, offset));
      values = combine(values, others);
    }
    return values;
  }

  /// The number that the thread at a distance in its warp has.
  Value exchange(Value value, int64_t offset) {
    auto word = [&](Value bits) -> Value {
      return gpu::ShuffleOp::create(builder, loc, bits, offset, kWarp,
                                    gpu::ShuffleMode::XOR)
          .getShuffleResult();
    };
    Type type = value.getType(), i32 = builder.getI32Type(),
         i64 = builder.getI64Type();
    unsigned width = type.getIntOrFloatBitWidth();
    if (width == 32)
      return word(value);
    if (width < 32) {
      Value wide = arith::ExtUIOp::create(builder, loc, i32, value);
      return arith::TruncIOp::create(builder, loc, type, word(wide));
    }
    Value bits =
        isa<FloatType>(type)
            ? arith::BitcastOp::create(builder, loc, i64, value).getResult()
            : value;
    Value by = arith::ConstantIntOp::create(builder, loc, i64, 32);
    Value low = arith::TruncIOp::create(builder, loc, i32, bits);
    Value high = arith::TruncIOp::create(
        builder, loc, i32, arith::ShRUIOp::create(builder, loc, bits, by));
    low = arith::ExtUIOp::create(builder, loc, i64, word(low));
    high = arith::ExtUIOp::create(builder, loc, i64, word(high));
    high = arith::ShLIOp::create(builder, loc, high, by);
    bits = arith::OrIOp::create(builder, loc, low, high);
    return isa<FloatType>(type)
               ? arith::BitcastOp::create(builder, loc, type, bits).getResult()
               : bits;
  }

  linalg::LinalgOp op;
  const ThreadPlan &plan;
  Value thread;
  int64_t threads;
  RewriterBase &builder;
  Location loc;
  SmallVector<Value> sizes, indices;
};
} // namespace

void ssa_compiler::emitThreadLoops(linalg::LinalgOp op, const ThreadPlan &plan,
                                   Value thread, int64_t threads,
                                   RewriterBase &rewriter) {
  Emitter(op, plan, thread, threads, rewriter).run();
}
