//===- LinalgToLoops.cpp - linalg ops as loops on registers ---------------===//

#include "ReduceInLanes.h"
#include "ReduceInTiles.h"

#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_LINALGTOLOOPSPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;

/// Whether an access is to one place in all trips of a loop.
template <typename Access>
static bool isAtOnePlace(Access op, scf::ForOp loop) {
  return loop.isDefinedOutsideOfLoop(op.getMemRef()) &&
         llvm::all_of(op.getIndices(), [&](Value index) {
           return loop.isDefinedOutsideOfLoop(index);
         });
}

/// Folds the maps that compute indices, and moves what is left of them in front
/// of a loop if they are the same in all its trips, as constants are.
static void simplifyIndices(scf::ForOp loop, RewriterBase &rewriter) {
  for (auto constant :
       llvm::make_early_inc_range(loop.getBody()->getOps<arith::ConstantOp>()))
    rewriter.moveOpBefore(constant, loop);
  for (auto apply : llvm::make_early_inc_range(
           loop.getBody()->getOps<affine::AffineApplyOp>())) {
    SmallVector<OpFoldResult> folded;
    if (succeeded(apply->fold(folded)) && folded.size() == 1) {
      rewriter.setInsertionPoint(loop);
      rewriter.replaceOp(apply, getValueOrCreateConstantIndexOp(
                                    rewriter, apply.getLoc(), folded[0]));
    } else if (llvm::all_of(apply.getOperands(), [&](Value operand) {
                 return loop.isDefinedOutsideOfLoop(operand);
               })) {
      rewriter.moveOpBefore(apply, loop);
    }
  }
}

/// Whether a load certainly is within its buffer.
static bool isInside(memref::LoadOp load) {
  return llvm::all_of(
      llvm::zip_equal(load.getMemRefType().getShape(), load.getIndices()),
      [](auto pair) {
        auto [size, index] = pair;
        std::optional<int64_t> place = getConstantIntValue(index);
        return ShapedType::isStatic(size) && place && *place >= 0 &&
               *place < size;
      });
}

/// Moves loads in front of a loop that read one place in all trips. What an
/// operand has in that place changes only if it is the result, and then the
/// load is the one of the result; bufferization lets no result share a buffer
/// with anything else that the body reads. Of these, loads may be in range only
/// if there is a trip.
static void hoistLoads(scf::ForOp loop, ValueRange operands,
                       RewriterBase &rewriter) {
  for (auto load :
       llvm::make_early_inc_range(loop.getBody()->getOps<memref::LoadOp>()))
    if (isAtOnePlace(load, loop) &&
        (llvm::is_contained(operands, load.getMemRef()) || isInside(load)))
      rewriter.moveOpBefore(load, loop);
}

static bool isPureOrLoad(Operation *op) {
  return isa<memref::LoadOp>(op) || isPure(op);
}

/// The load, moved in front of a loop, of the number that a store replaces.
static memref::LoadOp findLoad(memref::StoreOp store, scf::ForOp loop) {
  for (Operation *op = loop->getPrevNode(); op && isPureOrLoad(op);
       op = op->getPrevNode()) {
    auto load = dyn_cast<memref::LoadOp>(op);
    if (load && load.getMemRef() == store.getMemRef() &&
        isEqualConstantIntOrValueArray(getAsOpFoldResult(load.getIndices()),
                                       getAsOpFoldResult(store.getIndices())))
      return load;
  }
  return nullptr;
}

/// Carries the numbers around a loop that it stores to one place in all trips.
/// Returns the loop.
static scf::ForOp carryResults(scf::ForOp loop, RewriterBase &rewriter) {
  SmallVector<memref::StoreOp> stores;
  SmallVector<Value> starts;
  for (auto store : loop.getBody()->getOps<memref::StoreOp>()) {
    memref::LoadOp load =
        isAtOnePlace(store, loop) ? findLoad(store, loop) : memref::LoadOp();
    if (load && !llvm::is_contained(starts, load.getResult())) {
      stores.push_back(store);
      starts.push_back(load);
    }
  }
  if (stores.empty())
    return loop;
  auto yield = [&](OpBuilder &, Location, ArrayRef<BlockArgument>) {
    return llvm::map_to_vector(
        stores, [](memref::StoreOp store) { return store.getValueToStore(); });
  };
  auto carried = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, starts,
      /*replaceInitOperandUsesInLoop=*/true, yield));
  rewriter.setInsertionPointAfter(carried);
  for (auto [store, result] : llvm::zip_equal(stores, carried.getResults())) {
    memref::StoreOp::create(rewriter, store.getLoc(), result, store.getMemRef(),
                            store.getIndices());
    rewriter.eraseOp(store);
  }
  return carried;
}

namespace {
struct LinalgToLoopsPass
    : public ssa_compiler::impl::LinalgToLoopsPassBase<LinalgToLoopsPass> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      SmallVector<Value> operands(op->getOperands());
      op = ssa_compiler::reduceInTiles(op, rewriter);
      if (!op)
        continue;
      rewriter.setInsertionPoint(op);
      FailureOr<linalg::LinalgLoops> loops =
          linalg::linalgOpToLoops(rewriter, op);
      if (failed(loops))
        return signalPassFailure();
      rewriter.eraseOp(op);
      if (loops->empty())
        continue;
      auto innermost = cast<scf::ForOp>(loops->back());
      simplifyIndices(innermost, rewriter);
      hoistLoads(innermost, operands, rewriter);
      ssa_compiler::reduceInLanes(carryResults(innermost, rewriter), rewriter);
    }
  }
};
} // namespace
