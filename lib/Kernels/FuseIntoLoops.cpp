//===- FuseIntoLoops.cpp - elements computed by the loop that reads them --===//

#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_FUSEINTOLOOPSPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;

/// The dimension of an op's loops that each of a result's indices counts; -1
/// for an index that is always 0. Empty if an element of the result is not
/// computed once, for itself.
static SmallVector<int64_t> getDims(linalg::GenericOp op, OpOperand &output) {
  SmallVector<int64_t> dims;
  for (AffineExpr expr : op.getMatchingIndexingMap(&output).getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      dims.push_back(dim.getPosition());
    else if (isa<AffineConstantExpr>(expr))
      dims.push_back(-1);
    else
      return {};
  }
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (llvm::count(dims, loop) != 1)
      return {};
  return dims;
}

/// Whether each element of an op's results is computed by itself.
static bool isElementwise(linalg::GenericOp op) {
  return op.hasPureTensorSemantics() &&
         op.getNumParallelLoops() == op.getNumLoops() &&
         llvm::all_of(op.getDpsInitsMutable(),
                      [&](OpOperand &output) {
                        return !getDims(op, output).empty() &&
                               !op.payloadUsesValueFromOperand(&output);
                      }) &&
         llvm::all_of(
             op.getDpsInputOperands(),
             [&](OpOperand *input) {
               return isa<RankedTensorType>(input->get().getType()) &&
                      op.getMatchingIndexingMap(input).isProjectedPermutation(
                          /*allowZeroInResults=*/true);
             }) &&
         llvm::all_of(*op.getBody(), [](Operation &inner) {
           return inner.getNumRegions() == 0 && isMemoryEffectFree(&inner);
         });
}

/// Adds the loops around an op, inside of a block; returns whether there is
/// nothing else around it but branches.
static bool findLoops(Operation *op, Block *block,
                      SmallVectorImpl<scf::ForOp> &loops) {
  for (; op->getBlock() != block; op = op->getParentOp()) {
    Operation *parent = op->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      loops.push_back(loop);
    else if (!isa<scf::IfOp>(parent))
      return false;
  }
  return true;
}

/// The tensors in whose buffers a value may end up, followed back to where
/// those begin.
static void addBuffers(Value value, SetVector<Value> &buffers,
                       DenseSet<Value> &seen) {
  if (!isa<RankedTensorType>(value.getType()) || !seen.insert(value).second)
    return;
  auto again = [&](Value from) { addBuffers(from, buffers, seen); };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop =
        dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
    OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
    // Tensors that begin as one tensor do not stay in its buffer.
    if (!init || llvm::count(loop.getInits(), init->get()) != 1)
      return (void)buffers.insert(value);
    return again(init->get());
  }
  auto result = cast<OpResult>(value);
  Operation *op = result.getOwner();
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    again(branch.thenYield().getOperand(result.getResultNumber()));
    return again(branch.elseYield().getOperand(result.getResultNumber()));
  }
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
    if (OpOperand *init = loop.getTiedLoopInit(result))
      return again(init->get());
  if (auto computes = dyn_cast<DestinationStyleOpInterface>(op)) {
    Value init = computes.getTiedOpOperand(result)->get();
    // Each user of an empty tensor has a buffer of its own.
    return init.getDefiningOp<tensor::EmptyOp>() ? (void)buffers.insert(value)
                                                 : again(init);
  }
  if (isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp,
          tensor::CollapseShapeOp, tensor::CastOp>(op))
    return again(op->getOperand(0));
  if (auto inserted = dyn_cast<tensor::InsertOp>(op))
    return again(inserted.getDest());
  buffers.insert(value);
}

/// Whether loops may overwrite what an op reads, if it is read there: the old
/// contents would have to be copied.
static bool overwrite(ArrayRef<scf::ForOp> loops, linalg::GenericOp op) {
  SetVector<Value> written, read;
  DenseSet<Value> seen;
  for (scf::ForOp loop : loops)
    for (Value init : loop.getInitArgs())
      addBuffers(init, written, seen);
  seen.clear();
  for (OpOperand *input : op.getDpsInputOperands())
    addBuffers(input->get(), read, seen);
  for (auto gather : op.getBody()->getOps<tensor::ExtractOp>())
    addBuffers(gather.getTensor(), read, seen);
  return llvm::any_of(read,
                      [&](Value buffer) { return written.contains(buffer); });
}

/// The only read of a result, if it reads each element at most once for each
/// time that the tensor is made: all loops around it count one of its indices.
static tensor::ExtractOp findRead(linalg::GenericOp op, OpResult result) {
  if (!result.hasOneUse())
    return nullptr;
  auto read = dyn_cast<tensor::ExtractOp>(*result.user_begin());
  SmallVector<scf::ForOp> loops;
  bool once =
      read && findLoops(read, op->getBlock(), loops) && !loops.empty() &&
      llvm::all_of(loops, [&](scf::ForOp loop) {
        return llvm::is_contained(read.getIndices(), loop.getInductionVar());
      });
  return once && !overwrite(loops, op) ? read : nullptr;
}

/// Computes an element of an op's result where it is read.
static void fuse(linalg::GenericOp op, OpResult result,
                 tensor::ExtractOp read) {
  OpBuilder builder(read);
  OpOperand &output = *op.getTiedOpOperand(result);
  SmallVector<Value> at(op.getNumLoops());
  for (auto [dim, index] :
       llvm::zip_equal(getDims(op, output), read.getIndices()))
    if (dim >= 0)
      at[dim] = index;
  IRMapping known;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!op.payloadUsesValueFromOperand(input))
      continue;
    SmallVector<Value> place;
    for (AffineExpr expr : op.getMatchingIndexingMap(input).getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      place.push_back(
          dim ? at[dim.getPosition()]
              : arith::ConstantIndexOp::create(builder, read.getLoc(), 0)
                    .getResult());
    }
    known.map(
        op.getMatchingBlockArgument(input),
        tensor::ExtractOp::create(builder, read.getLoc(), input->get(), place));
  }
  SmallVector<Operation *> made;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      known.map(index.getResult(), at[index.getDim()]);
    else
      made.push_back(builder.clone(inner, known));
  }
  Value element =
      op.getBody()->getTerminator()->getOperand(result.getResultNumber());
  read.replaceAllUsesWith(known.lookupOrDefault(element));
  read.erase();
  for (Operation *inner : llvm::reverse(made)) // what other results need
    if (isOpTriviallyDead(inner))
      inner->erase();
}

namespace {
struct FuseIntoLoopsPass
    : public ssa_compiler::impl::FuseIntoLoopsPassBase<FuseIntoLoopsPass> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation()->walk([&](linalg::GenericOp op) { ops.push_back(op); });
    // Users first: what they read are elements, then.
    for (linalg::GenericOp op : llvm::reverse(ops)) {
      if (!isElementwise(op))
        continue;
      SmallVector<tensor::ExtractOp> reads;
      for (OpResult result : op->getResults())
        reads.push_back(findRead(op, result));
      if (reads.empty() || llvm::is_contained(reads, nullptr))
        continue;
      for (auto [result, read] : llvm::zip_equal(op->getResults(), reads))
        fuse(op, result, read);
      op.erase();
    }
  }
};
} // namespace
