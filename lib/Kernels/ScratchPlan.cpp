//===- ScratchPlan.cpp - what scratch memory a kernel needs ---------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "ScratchPlan.h"
#include "Ranges.h"
#include "Roles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace ssa_compiler;

/// How far a bound is sought.
static constexpr unsigned kMostSteps = 16;

LogicalResult ScratchPlan::run() {
  if (failed(takeResultSizes()) || failed(findResults()))
    return failure();
  return planBuffers();
}

/// Takes the sizes of results from what the function returns.
LogicalResult ScratchPlan::takeResultSizes() {
  auto count = function->getAttrOfType<IntegerAttr>("kernel.sizes");
  if (!count)
    return success();
  auto yielded =
      cast<func::ReturnOp>(function.getBody().front().getTerminator());
  unsigned first = yielded.getNumOperands() - count.getInt();
  for (Value size : yielded.getOperands().drop_front(first)) {
    if (!numbers.add(size))
      return yielded.emitError(
          "unsupported: a result whose size depends on data");
    resultSizes.push_back(size);
  }
  yielded->setOperands(yielded.getOperands().take_front(first));
  function.setType(
      builder.getFunctionType(function.getArgumentTypes(),
                              function.getResultTypes().take_front(first)));
  function->removeAttr("kernel.sizes");
  return success();
}

/// Finds the buffers whose place the caller asks for: results whose sizes
/// depend on data.
LogicalResult ScratchPlan::findResults() {
  WalkResult found =
      function.walk([&](memref::ExtractAlignedPointerAsIndexOp op) {
        Value buffer = op.getSource();
        while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
          buffer = view.getViewSource();
        auto made = buffer.getDefiningOp<memref::AllocOp>();
        if (made)
          results.emplace_back(op, made);
        else if (!isa<BlockArgument>(buffer))
          return WalkResult(op.emitError("unsupported: the place of a view"));
        return WalkResult::advance();
      });
  return failure(found.wasInterrupted());
}

bool ScratchPlan::isResult(memref::AllocOp op) const {
  return llvm::is_contained(llvm::make_second_range(results), op);
}

/// Finds the views of a buffer, itself included. Fails if a branch or loop
/// hands it on.
static LogicalResult findViews(Value buffer, SmallVectorImpl<Value> &views) {
  views.push_back(buffer);
  for (Operation *user : buffer.getUsers()) {
    if (isa<ViewLikeOpInterface>(user)) {
      if (failed(findViews(user->getResult(0), views)))
        return failure();
    } else if (auto store = dyn_cast<memref::StoreOp>(user)) {
      if (store.getValue() == buffer)
        return failure();
    } else if (!isa<memref::LoadOp>(user)) {
      return failure();
    }
  }
  return success();
}

/// Lets the threads of a workgroup share a buffer; returns whether they can.
static bool share(memref::AllocOp op, OpBuilder &builder) {
  SmallVector<Value> views;
  if (failed(findViews(op, views)))
    return false;
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  for (Value view : views) {
    auto type = cast<MemRefType>(view.getType());
    view.setType(MemRefType::get(type.getShape(), type.getElementType(),
                                 type.getLayout(), space));
  }
  op.removeAlignmentAttr(); // newer versions of MLIR write it otherwise
  Block &entry = op->getParentOfType<func::FuncOp>().getBody().front();
  op->moveBefore(&entry, entry.begin());
  return true;
}

/// Decides where each buffer is.
LogicalResult ScratchPlan::planBuffers() {
  SmallVector<memref::AllocOp> constant;
  WalkResult planned = function.walk([&](memref::AllocOp op) {
    if (op.getType().hasStaticShape())
      constant.push_back(op);
    else if (failed(planDynamic(op)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (planned.wasInterrupted())
    return failure();
  bool isShared = function->hasAttr(kThreads);
  auto bytesOf = [](memref::AllocOp op) {
    return op.getType().getNumElements() * elementBytes(op.getType());
  };
  llvm::stable_sort(constant, [&](memref::AllocOp a, memref::AllocOp b) {
    return bytesOf(a) < bytesOf(b);
  });
  for (memref::AllocOp op : constant) {
    int64_t bytes = llvm::alignTo(bytesOf(op), kScratchAlignment);
    if (bytes > options.maxStack || isResult(op) ||
        (isShared && !share(op, builder))) {
      buffers.push_back({op, {}, bytesOf(op)});
      continue;
    }
    options.maxStack -= bytes;
    if (isShared)
      continue;
    builder.setInsertionPointToStart(&function.getBody().front());
    auto local = memref::AllocaOp::create(builder, op.getLoc(), op.getType());
    op.replaceAllUsesWith(local.getResult());
    op.erase();
  }
  return success();
}

/// Finds out what bytes a buffer of a dynamic size takes.
LogicalResult ScratchPlan::planDynamic(memref::AllocOp op) {
  SmallVector<Value> sizes;
  SmallVector<std::pair<Value, Value>> bounded;
  uint64_t bytes = elementBytes(op.getType());
  for (int64_t size : op.getType().getShape())
    if (!ShapedType::isDynamic(size))
      bytes = llvm::SaturatingMultiply(bytes, uint64_t(size));
  bool exact = true;
  builder.setInsertionPoint(op);
  for (Value size : op.getDynamicSizes()) {
    if (numbers.add(size)) {
      sizes.push_back(size);
    } else if (uint64_t most = largest(size);
               most <= uint64_t(options.maxReserved)) {
      bytes = llvm::SaturatingMultiply(bytes, most);
      exact = false;
    } else if (Value bound = boundAtEntry(size, kMostSteps)) {
      sizes.push_back(bound);
      bounded.emplace_back(size, bound);
    } else {
      bytes = std::numeric_limits<uint64_t>::max();
      exact = false;
    }
  }
  if (bytes > uint64_t(options.maxReserved) && !exact) {
    if (!mayRunAgain())
      return op.emitError(
          "unsupported: scratch memory whose size depends on data");
    late.push_back(op);
    return success();
  }
  buffers.push_back({op, sizes, int64_t(bytes), bounded});
  return success();
}

/// Whether the caller may run the kernel again with a larger workspace, when
/// it turns out that it needs more: it has not changed any argument then.
bool ScratchPlan::mayRunAgain() {
  return options.checkWorkspace &&
         llvm::none_of(function.getArguments(), [&](BlockArgument argument) {
           return getRole(function, argument.getArgNumber()) == "written";
         });
}

/// The most that a size can be, whatever the kernel is called with.
uint64_t ScratchPlan::largest(Value size) const {
  const auto *lattice =
      ranges.lookupState<dataflow::IntegerValueRangeLattice>(size);
  if (!lattice || lattice->getValue().isUninitialized())
    return std::numeric_limits<uint64_t>::max();
  return std::max<int64_t>(lattice->getValue().getValue().smax().getSExtValue(),
                           0);
}

bool ScratchPlan::isNeverNegative(Value number) const {
  const auto *lattice =
      ranges.lookupState<dataflow::IntegerValueRangeLattice>(number);
  return lattice && !lattice->getValue().isUninitialized() &&
         lattice->getValue().getValue().smin().isNonNegative();
}

/// A number known at entry that a number does not exceed; none if there is no
/// such. It follows how slices clamp their bounds.
Value ScratchPlan::boundAtEntry(Value number, unsigned steps) {
  if (numbers.add(number))
    return number;
  Operation *op = number.getDefiningOp();
  if (!op || steps == 0)
    return Value();
  auto bound = [&](unsigned operand) {
    return boundAtEntry(op->getOperand(operand), steps - 1);
  };
  Location loc = op->getLoc();
  Value result;
  if (isa<arith::MinSIOp>(op)) {
    Value first = bound(0);
    return first ? first : bound(1);
  }
  if (isa<arith::MaxSIOp, arith::SelectOp>(op)) {
    unsigned arm = isa<arith::SelectOp>(op);
    Value one = bound(arm), other = bound(arm + 1);
    if (one && other)
      result = arith::MaxSIOp::create(builder, loc, one, other);
  } else if (auto cast = dyn_cast<arith::IndexCastOp>(op)) {
    if (Value inner = bound(0))
      result = arith::IndexCastOp::create(builder, loc, cast.getType(), inner);
  } else if (isa<arith::SubIOp>(op) && isNeverNegative(op->getOperand(1))) {
    return bound(0);
  } else if (isa<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>(op) &&
             matchPattern(op->getOperand(1), m_Constant()) &&
             isNeverNegative(op->getOperand(1))) {
    if (Value inner = bound(0)) {
      IRMapping mapping;
      mapping.map(op->getOperand(0), inner);
      result = builder.clone(*op, mapping)->getResult(0);
    }
  }
  return result && numbers.add(result) ? result : Value();
}
