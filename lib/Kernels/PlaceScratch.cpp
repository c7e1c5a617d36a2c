//===- PlaceScratch.cpp - where the buffers of a kernel are ---------------===//
//
// Kernels have no allocator. What they need is planned before the call: by the
// host, from the sizes of the arguments.
//
//===----------------------------------------------------------------------===//

#include "Ranges.h"
#include "Roles.h"
#include "ScratchPlan.h"
#include "ssa-compiler/Kernels/Passes.h"
#include "ssa-compiler/Support/SourceLocation.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_PLACESCRATCHPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

/// Bytes that a buffer, or a result, takes at most. One that would take more
/// gets none: it may never be reached, and if it is, an assertion fails there.
static constexpr int64_t kMostScratch = int64_t(1) << 33;
static constexpr int64_t kMostResult = int64_t(1) << 46;

namespace {
/// The bytes of a buffer: whether they are few enough, and the sizes, which are
/// not negative.
struct Extent {
  Value fits;
  SmallVector<Value> sizes;
};

/// Emits arithmetic on sizes. What is negative is rejected by a check of the
/// program; what would overflow is too large.
struct SizeBuilder {
  OpBuilder &builder;
  Location loc;

  Value index(int64_t number) {
    return arith::ConstantIndexOp::create(builder, loc, number);
  }

  Extent extent(ArrayRef<Value> sizes, int64_t factor, int64_t most) {
    Type f64 = builder.getF64Type();
    auto number = [&](double value) -> Value {
      return arith::ConstantOp::create(builder, loc,
                                       builder.getF64FloatAttr(value));
    };
    Extent extent;
    Value bytes = number(factor), zero = index(0);
    for (Value size : sizes) {
      Value count = arith::MaxSIOp::create(builder, loc, size, zero);
      extent.sizes.push_back(count);
      Value wide =
          arith::IndexCastOp::create(builder, loc, builder.getI64Type(), count);
      Value real = arith::SIToFPOp::create(builder, loc, f64, wide);
      bytes = arith::MulFOp::create(builder, loc, bytes, real);
    }
    extent.fits = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLE,
                                        bytes, number(most));
    return extent;
  }

  /// The bytes of a buffer, up to where the next one may begin.
  Value bytes(const Extent &extent, int64_t factor) {
    Value bytes = index(factor);
    for (Value size : extent.sizes)
      bytes = arith::MulIOp::create(builder, loc, bytes, size);
    Value last = index(kScratchAlignment - 1), mask = index(-kScratchAlignment);
    bytes = arith::AddIOp::create(builder, loc, bytes, last);
    return arith::AndIOp::create(builder, loc, bytes, mask);
  }
};

/// Places the buffers of one function.
class Placement {
public:
  Placement(func::FuncOp function, ScratchPlan &plan)
      : function(function), plan(plan), builder(function.getContext()),
        reserved(getWorkgroups(function) > 1 ? kScratchAlignment : 0) {}

  void run() {
    placeBuffers();
    computeSizes();
  }

private:
  /// Lets what asks for the place of a buffer have its offset in the workspace.
  void tellPlace(memref::AllocOp op, Value offset) {
    for (auto [asking, buffer] : plan.getResults())
      if (buffer == op)
        asking->getResult(0).replaceAllUsesWith(offset);
  }

  /// Emits the offsets of the buffers in the workspace, and its bytes behind
  /// them. `fits` gets a condition for each buffer that may be too large.
  SmallVector<Value> emitOffsets(const IRMapping &mapping,
                                 SmallVectorImpl<Value> &fits) {
    SizeBuilder emit{builder, function.getLoc()};
    Location loc = function.getLoc();
    Value offset = emit.index(reserved);
    SmallVector<Value> offsets;
    for (const ScratchPlan::Buffer &buffer : plan.getBuffers()) {
      offsets.push_back(offset);
      fits.push_back(Value());
      Value bytes;
      if (buffer.sizes.empty()) {
        bytes = emit.index(llvm::alignTo(buffer.bytes, kScratchAlignment));
      } else {
        SmallVector<Value> sizes;
        for (Value size : buffer.sizes)
          sizes.push_back(mapping.lookupOrDefault(size));
        Extent extent = emit.extent(sizes, buffer.bytes, kMostScratch);
        fits.back() = extent.fits;
        bytes = arith::SelectOp::create(builder, loc, extent.fits,
                                        emit.bytes(extent, buffer.bytes),
                                        emit.index(0));
      }
      offset = arith::AddIOp::create(builder, loc, offset, bytes);
    }
    offsets.push_back(offset);
    return offsets;
  }

  /// Makes views of the workspace of the allocations.
  void placeBuffers() {
    Block &entry = function.getBody().front();
    if (plan.getBuffers().empty() && plan.getLate().empty() && reserved == 0)
      return;
    unsigned number = entry.getNumArguments();
    auto type =
        MemRefType::get({ShapedType::kDynamic}, builder.getIntegerType(8));
    Value workspace = entry.addArgument(type, function.getLoc());
    function.setType(builder.getFunctionType(entry.getArgumentTypes(),
                                             function.getResultTypes()));
    setRole(function, number, "scratch");
    builder.setInsertionPointToStart(&entry);
    IRMapping mapping;
    plan.getNumbers().clone(builder, mapping);
    SmallVector<Value> fits;
    SmallVector<Value> offsets = emitOffsets(mapping, fits);
    bool isKnown =
        llvm::all_of(plan.getBuffers(), [](const ScratchPlan::Buffer &buffer) {
          return buffer.sizes.empty();
        });
    Location loc = function.getLoc();
    if (plan.mayGrow() && (!isKnown || !plan.getLate().empty())) {
      Value given = memref::DimOp::create(builder, loc, workspace, 0);
      Value holds = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::sle, offsets.back(), given);
      cf::AssertOp::create(builder, loc, holds, kNoSpace);
      if (!plan.getLate().empty())
        placeLate(workspace, given, offsets.back());
    }
    for (auto [buffer, offset, condition] :
         llvm::zip(plan.getBuffers(), offsets, fits)) {
      builder.setInsertionPoint(buffer.op);
      // Integers wrap around: a difference may be more than what it is of.
      for (auto [size, bound] : buffer.bounded) {
        Value holds =
            arith::CmpIOp::create(builder, buffer.op.getLoc(),
                                  arith::CmpIPredicate::sle, size, bound);
        condition = arith::AndIOp::create(builder, buffer.op.getLoc(),
                                          condition, holds);
      }
      if (condition)
        cf::AssertOp::create(builder, buffer.op.getLoc(), condition,
                             tooMuch(buffer.op.getLoc()));
      auto view = memref::ViewOp::create(builder, buffer.op.getLoc(),
                                         buffer.op.getType(), workspace, offset,
                                         buffer.op.getDynamicSizes());
      tellPlace(buffer.op, offset);
      buffer.op.replaceAllUsesWith(view.getResult());
    }
    for (auto [asking, buffer] : plan.getResults())
      asking->erase();
  }

  /// Places buffers whose size is known only when the kernel comes to them, one
  /// behind the other. A trip of a loop begins where the first one did: no
  /// buffer leaves its trip. One may leave its branch.
  void placeLate(Value workspace, Value given, Value first) {
    Location loc = function.getLoc();
    OpBuilder::InsertionGuard guard(builder);
    // The backend knows no local variable of type index.
    Type i64 = builder.getI64Type(), index = builder.getIndexType();
    Value top =
        memref::AllocaOp::create(builder, loc, MemRefType::get({}, i64));
    auto setTop = [&](Value offset) {
      Value number = arith::IndexCastOp::create(builder, loc, i64, offset);
      memref::StoreOp::create(builder, loc, number, top);
    };
    auto getTop = [&]() -> Value {
      Value number = memref::LoadOp::create(builder, loc, top);
      return arith::IndexCastOp::create(builder, loc, index, number);
    };
    setTop(first);
    SetVector<Operation *> loops;
    for (memref::AllocOp op : plan.getLate())
      for (auto loop = op->getParentOfType<LoopLikeOpInterface>(); loop;
           loop = loop->getParentOfType<LoopLikeOpInterface>())
        loops.insert(loop);
    for (Operation *loop : loops) {
      builder.setInsertionPoint(loop);
      Value begin = getTop();
      builder.setInsertionPointToStart(&loop->getRegion(0).front());
      setTop(begin);
    }
    for (memref::AllocOp op : plan.getLate()) {
      builder.setInsertionPoint(op);
      Location loc = op.getLoc();
      Value offset = getTop();
      int64_t factor = elementBytes(op.getType());
      for (int64_t size : op.getType().getShape())
        factor *= ShapedType::isDynamic(size) ? 1 : size;
      SizeBuilder emit{builder, loc};
      Extent extent = emit.extent(llvm::to_vector(op.getDynamicSizes()), factor,
                                  kMostScratch);
      cf::AssertOp::create(builder, loc, extent.fits, tooMuch(loc));
      Value end = arith::AddIOp::create(builder, loc, offset,
                                        emit.bytes(extent, factor));
      Value holds = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::sle, end, given);
      cf::AssertOp::create(builder, loc, holds, kNoSpace);
      setTop(end);
      auto view = memref::ViewOp::create(builder, loc, op.getType(), workspace,
                                         offset, op.getDynamicSizes());
      tellPlace(op, offset);
      op.replaceAllUsesWith(view.getResult());
      op.erase();
    }
  }

  /// The message of a buffer that gets no memory.
  StringAttr tooMuch(Location loc) {
    return builder.getStringAttr(
        withSourceLine("unsupported: a kernel with more than 8 GiB of scratch "
                       "memory; compile with kernels=False",
                       loc));
  }

  /// Makes the function that the host calls for the sizes of results and the
  /// workspace.
  void computeSizes() {
    SmallVector<Type> types;
    SmallVector<std::pair<BlockArgument, int64_t>> origins;
    for (BlockArgument argument : function.getArguments()) {
      if (!isGiven(function, argument.getArgNumber()))
        continue;
      auto type = dyn_cast<MemRefType>(argument.getType());
      if (!type) {
        types.push_back(argument.getType());
        origins.emplace_back(argument, -1);
        continue;
      }
      for (int64_t dim = 0; dim < type.getRank(); ++dim) {
        if (!type.isDynamicDim(dim))
          continue;
        types.push_back(builder.getIndexType());
        origins.emplace_back(argument, dim);
      }
    }
    builder.setInsertionPointAfter(function);
    SmallVector<Type> results(plan.getResultSizes().size() + 1,
                              builder.getIndexType());
    auto sizes = func::FuncOp::create(builder, function.getLoc(),
                                      (function.getName() + ".sizes").str(),
                                      builder.getFunctionType(types, results));
    sizes.setPrivate();
    sizes->setAttr("kernel.form", builder.getStringAttr("sizes"));
    Block *body = sizes.addEntryBlock();
    builder.setInsertionPointToStart(body);
    IRMapping mapping;
    for (auto [origin, argument] : llvm::zip(origins, body->getArguments()))
      if (origin.second < 0)
        mapping.map(origin.first, argument);
    for (memref::DimOp dim : plan.getNumbers().getDims())
      for (auto [origin, argument] : llvm::zip(origins, body->getArguments()))
        if (origin.first == dim.getSource() &&
            origin.second == *dim.getConstantIndex())
          mapping.map(dim.getResult(), argument);
    plan.getNumbers().clone(builder, mapping);
    SmallVector<Value> made = emitResultSizes(mapping);
    SmallVector<Value> fits;
    made.push_back(emitOffsets(mapping, fits).back());
    func::ReturnOp::create(builder, function.getLoc(), made);
    for (const ScratchPlan::Buffer &buffer : plan.getBuffers())
      buffer.op->erase();
  }

  /// Emits the sizes of results as the host allocates them: 0 where that cannot
  /// be, which the kernel asserts where it begins to write the result.
  SmallVector<Value> emitResultSizes(const IRMapping &mapping) {
    SizeBuilder emit{builder, function.getLoc()};
    SmallVector<Value> made;
    ArrayRef<Value> left = plan.getResultSizes();
    for (BlockArgument argument : function.getArguments()) {
      auto type = dyn_cast<MemRefType>(argument.getType());
      if (!type || !getRole(function, argument.getArgNumber()).empty())
        continue;
      int64_t factor = elementBytes(type);
      for (int64_t size : type.getShape())
        factor *= ShapedType::isDynamic(size) ? 1 : size;
      SmallVector<Value> sizes;
      for (Value size : left.take_front(type.getNumDynamicDims()))
        sizes.push_back(mapping.lookupOrDefault(size));
      left = left.drop_front(sizes.size());
      if (sizes.empty())
        continue;
      Extent extent = emit.extent(sizes, factor, kMostResult);
      for (Value size : extent.sizes)
        made.push_back(arith::SelectOp::create(
            builder, function.getLoc(), extent.fits, size, emit.index(0)));
    }
    return made;
  }

  func::FuncOp function;
  ScratchPlan &plan;
  OpBuilder builder;
  /// The bytes at the start of the workspace in which workgroups count.
  int64_t reserved;
};

struct PlaceScratchPass
    : public ssa_compiler::impl::PlaceScratchPassBase<PlaceScratchPass> {
  using PlaceScratchPassBase::PlaceScratchPassBase;

  void runOnOperation() override {
    DataFlowSolver ranges;
    if (failed(analyzeRanges(ranges, getOperation())))
      return signalPassFailure();
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      if (function.isExternal())
        continue;
      // Workgroups share nothing but the workspace.
      int64_t near = getWorkgroups(function) > 1 ? 0 : maxStack.getValue();
      ScratchPlan plan(function, ranges, {near, maxReserved, checkWorkspace});
      if (failed(plan.run()))
        return signalPassFailure();
      Placement(function, plan).run();
    }
  }
};
} // namespace
