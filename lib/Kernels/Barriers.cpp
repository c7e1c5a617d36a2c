//===- Barriers.cpp - where the threads of a kernel wait for each other ---===//
//
// See ThreadPlan.h. A barrier stands in front of each op that accesses what
// other threads may have accessed since the last one, unless both only read, or
// each thread accesses the same elements in both.
//
//===----------------------------------------------------------------------===//

#include "ThreadPlan.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace ssa_compiler;

namespace {
/// Which threads access an element.
enum class By {
  Any,   ///< threads that nothing is known of
  First, ///< the first one
  Owner, ///< the one that runs an iteration which the element belongs to
};

/// An access to a buffer by some threads, since the last barrier.
struct Access {
  /// The memory that it is in; null if a branch or loop decides.
  Value root;
  Value buffer;
  bool writes;
  By by;
  /// Of an owner: the sizes of the loops, and which of them are the indices.
  SmallVector<int64_t> sizes;
  AffineMap map;

  bool operator==(const Access &other) const {
    return root == other.root && buffer == other.buffer &&
           writes == other.writes && by == other.by && sizes == other.sizes &&
           map == other.map;
  }

  /// Whether one of the two has to wait for the other.
  bool conflictsWith(const Access &other) const {
    if ((!writes && !other.writes) ||
        (root && other.root && root != other.root))
      return false;
    if (by == By::First && other.by == By::First)
      return false;
    return by != By::Owner || other.by != By::Owner || buffer != other.buffer ||
           sizes != other.sizes || map != other.map;
  }
};

/// The accesses since the last barrier.
using Pending = SmallVector<Access>;

void addAll(Pending &pending, ArrayRef<Access> more) {
  for (const Access &access : more)
    if (!llvm::is_contained(pending, access))
      pending.push_back(access);
}

/// The memory that a buffer is in; null if a branch or loop decides.
Value findRoot(Value buffer) {
  while (Operation *op = buffer.getDefiningOp()) {
    if (auto view = dyn_cast<ViewLikeOpInterface>(op))
      buffer = view.getViewSource();
    else
      return isa<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp>(op)
                 ? buffer
                 : Value();
  }
  Operation *owner = cast<BlockArgument>(buffer).getOwner()->getParentOp();
  return isa<FunctionOpInterface>(owner) ? buffer : Value();
}

/// Finds where barriers have to be.
class Analysis {
public:
  Analysis(int64_t threads) : threads(threads) {}

  LogicalResult run(Region &region) {
    do {
      changed = false;
      Pending pending;
      if (failed(visit(region.front(), pending)))
        return failure();
    } while (changed);
    return success();
  }

  const SetVector<Operation *> &getWaiting() const { return waiting; }

private:
  LogicalResult visit(Block &block, Pending &pending) {
    for (Operation &op : block)
      if (failed(visit(&op, pending)))
        return failure();
    return success();
  }

  LogicalResult visit(Operation *op, Pending &pending) {
    if (isa<gpu::BarrierOp>(op)) {
      pending.clear();
      return success();
    }
    if (isa<linalg::LinalgOp>(op) || op->hasAttr(kOneThread) ||
        isa<memref::LoadOp, memref::StoreOp>(op))
      return access(op, pending);
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      Pending taken = pending;
      if (failed(visit(*branch.thenBlock(), taken)))
        return failure();
      if (branch.elseBlock() && failed(visit(*branch.elseBlock(), pending)))
        return failure();
      addAll(pending, taken);
      return success();
    }
    if (isa<scf::ForOp, scf::WhileOp>(op))
      return repeat(op, pending);
    if (op->getNumRegions() != 0)
      return op->emitError("unsupported: threads in this op");
    return success();
  }

  /// Visits a loop until nothing is added to what is pending at its start.
  LogicalResult repeat(Operation *loop, Pending &pending) {
    while (true) {
      Pending after = pending, left;
      if (auto counted = dyn_cast<scf::ForOp>(loop)) {
        if (failed(visit(*counted.getBody(), after)))
          return failure();
        left = pending; // it may run no trip
        addAll(left, after);
      } else {
        auto other = cast<scf::WhileOp>(loop);
        if (failed(visit(*other.getBeforeBody(), after)))
          return failure();
        left = after;
        if (failed(visit(*other.getAfterBody(), after)))
          return failure();
      }
      size_t before = pending.size();
      addAll(pending, after);
      if (pending.size() == before) {
        pending = left;
        return success();
      }
    }
  }

  LogicalResult access(Operation *op, Pending &pending) {
    SmallVector<Access> accesses;
    if (auto generic = dyn_cast<linalg::LinalgOp>(op)) {
      if (!generic.hasPureBufferSemantics())
        return op->emitError("unsupported: an op on tensors");
      find(generic, accesses);
    } else {
      By by = op->hasAttr(kOneThread) ? By::First : By::Any;
      op->walk([&](Operation *inner) { find(inner, by, accesses); });
    }
    if (waiting.contains(op)) {
      pending.clear();
    } else if (llvm::any_of(accesses, [&](const Access &access) {
                 return llvm::any_of(pending, [&](const Access &other) {
                   return access.conflictsWith(other);
                 });
               })) {
      waiting.insert(op);
      changed = true;
      pending.clear();
    }
    addAll(pending, accesses);
    return success();
  }

  static void find(Operation *op, By by, SmallVectorImpl<Access> &accesses) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      accesses.push_back({findRoot(load.getMemRef()),
                          load.getMemRef(),
                          /*writes=*/false,
                          by,
                          {},
                          {}});
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      accesses.push_back({findRoot(store.getMemRef()),
                          store.getMemRef(),
                          /*writes=*/true,
                          by,
                          {},
                          {}});
  }

  void find(linalg::LinalgOp op, SmallVectorImpl<Access> &accesses) {
    ThreadPlan plan = planThreads(op, threads);
    op.getBlock()->walk(
        [&](Operation *inner) { find(inner, By::Any, accesses); });
    SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<MemRefType>(operand.get().getType()))
        continue;
      AffineMap map = op.getMatchingIndexingMap(&operand);
      bool isInit = op.isDpsInit(&operand);
      Access access = {findRoot(operand.get()), operand.get(),
                       /*writes=*/isInit,       By::Any,       sizes, map};
      // Each iteration has elements of its own.
      bool isOwn = plan.isPlain() && map.isPermutation() &&
                   plan.reduced.empty() &&
                   llvm::none_of(sizes, ShapedType::isDynamic);
      if (isOwn)
        access.by = By::Owner;
      else if (plan.inOrder)
        access.by = By::First;
      accesses.push_back(access);
    }
  }

  int64_t threads;
  SetVector<Operation *> waiting;
  bool changed = false;
};
} // namespace

LogicalResult ssa_compiler::insertBarriers(Operation *function,
                                           int64_t threads) {
  Analysis analysis(threads);
  if (failed(analysis.run(function->getRegion(0))))
    return failure();
  OpBuilder builder(function->getContext());
  for (Operation *op : analysis.getWaiting()) {
    builder.setInsertionPoint(op);
    gpu::BarrierOp::create(builder, op->getLoc());
  }
  return success();
}
