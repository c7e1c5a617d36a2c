//===- ReserveCapacity.cpp - tensors that loops make longer ---------------===//
//
// Lets a loop carry a tensor to which each iteration appends something in a
// buffer that has room for all iterations.
//
//===----------------------------------------------------------------------===//

#include "ListGrowth.h"
#include "LoopTrips.h"
#include "TensorTypes.h"

#include "ssa-compiler/Conversion/Passes.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchBuilders.h"
#include "ssa-compiler/Dialect/TorchConversion/IR/TorchConversionDialect.h"
#include "ssa-compiler/Support/RegionUtils.h"
#include "ssa-compiler/Support/SourceLocation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_RESERVECAPACITYPASS
#include "ssa-compiler/Conversion/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;
using torch::ValueTensorType;

//===----------------------------------------------------------------------===//
// Which tensors grow
//===----------------------------------------------------------------------===//

/// The parts of a concatenation; empty if the op is none, or if they are not
/// known.
static OperandRange getParts(Operation *op) {
  static constexpr StringLiteral kList = "torch.prim.ListConstruct";
  if (op && op->getName().getStringRef() == "torch.aten.cat")
    if (Operation *list = op->getOperand(0).getDefiningOp();
        list && list->getName().getStringRef() == kList)
      return list->getOperands();
  return OperandRange(nullptr, 0);
}

/// The dimension of a concatenation, counted from the first one.
static std::optional<int64_t> getDim(Operation *cat, int64_t rank) {
  std::optional<int64_t> dim = torch::getIntConstant(cat->getOperand(1));
  if (dim && *dim < 0)
    *dim += rank;
  return dim && *dim >= 0 && *dim < rank ? dim : std::nullopt;
}

static std::optional<int64_t> getSizeAlong(Value tensor, int64_t dim) {
  auto type = dyn_cast<ValueTensorType>(tensor.getType());
  if (!type || !type.hasSizes() ||
      static_cast<size_t>(dim) >= type.getSizes().size() ||
      type.getSizes()[dim] == torch::kUnknownSize)
    return std::nullopt;
  return type.getSizes()[dim];
}

namespace {

/// What an iteration makes of a tensor that the loop carries.
struct Growth {
  Growth(BlockArgument tensor) : tensor(tensor) {}

  /// Finds by how much `value` is longer than the tensor at most; fails if it
  /// is not the tensor with parts of known sizes appended.
  std::optional<int64_t> measure(Value value);

  BlockArgument tensor;
  int64_t dim = -1;
};

} // namespace

std::optional<int64_t> Growth::measure(Value value) {
  if (value == tensor)
    return 0;
  Operation *op = value.getDefiningOp();
  if (isCast(op))
    return measure(op->getOperand(0));
  if (auto branch = dyn_cast_or_null<scf::IfOp>(op)) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    std::optional<int64_t> most;
    for (Region &region : branch->getRegions()) {
      std::optional<int64_t> found =
          measure(region.front().getTerminator()->getOperand(number));
      if (!found)
        return std::nullopt;
      most = std::max(most.value_or(0), *found);
    }
    return most;
  }
  OperandRange parts = getParts(op);
  if (parts.empty())
    return std::nullopt;
  auto type = cast<ValueTensorType>(tensor.getType());
  std::optional<int64_t> along = getDim(op, type.getSizes().size());
  std::optional<int64_t> most = measure(parts.front());
  if (!along || !most || (dim >= 0 && dim != *along))
    return std::nullopt;
  dim = *along;
  for (Value part : parts.drop_front()) {
    auto partType = dyn_cast<ValueTensorType>(part.getType());
    std::optional<int64_t> size = getSizeAlong(part, dim);
    if (!size || partType.getOptionalDtype() != type.getOptionalDtype() ||
        partType.getSizes().size() != type.getSizes().size())
      return std::nullopt;
    *most += *size;
  }
  return most;
}

//===----------------------------------------------------------------------===//
// Carrying a buffer
//===----------------------------------------------------------------------===//

namespace {

/// A tensor: the first elements along one dimension of a buffer.
struct Prefix {
  Value buffer; // a builtin tensor
  Value length; // an i64
};

/// Rewrites one loop so that it carries a buffer and a length in the place of
/// one tensor.
class Rewriter {
public:
  Rewriter(RewriterBase &rewriter, int64_t dim, RankedTensorType bufferType,
           Value limit)
      : rewriter(rewriter), dim(dim), bufferType(bufferType), limit(limit) {}

  /// Builds the tensor that a prefix is, of a type, at the insertion point.
  Value show(Location loc, const Prefix &prefix, Type type);

  /// Lets what uses `argument`, at the head of a region, use the prefix.
  void enter(BlockArgument argument, Value length, Type type);

  /// Lets what uses the result of a loop use the prefix.
  void leave(Value result, Value length, Type type) {
    result.setType(bufferType);
    rewriter.setInsertionPointAfter(result.getDefiningOp());
    replace(result, {result, length}, type);
  }

  /// Returns the prefix that `value` is.
  Prefix follow(Value value);

  /// Builds the buffer with a tensor from `begin` on.
  Value put(Location loc, Value tensor, Value buffer, Value begin);

private:
  Prefix append(Operation *cat);
  Prefix followBranch(scf::IfOp branch, unsigned number, Type type);
  void replace(Value old, const Prefix &prefix, Type type);

  RewriterBase &rewriter;
  int64_t dim;
  RankedTensorType bufferType;
  Value limit; // the length that the buffer has room for, null if it suffices
  DenseMap<Value, Prefix> known;
};

} // namespace

static OpFoldResult toIndex(OpBuilder &builder, Location loc, Value number) {
  if (std::optional<int64_t> known = getConstantIntValue(number))
    return builder.getIndexAttr(*known);
  return builder.createOrFold<arith::IndexCastOp>(loc, builder.getIndexType(),
                                                  number);
}

static Value toI64(OpBuilder &builder, Location loc, OpFoldResult size) {
  if (std::optional<int64_t> known = getConstantIntValue(size))
    return createI64(builder, loc, *known);
  return builder.createOrFold<arith::IndexCastOp>(loc, builder.getI64Type(),
                                                  cast<Value>(size));
}

static void assertRoom(OpBuilder &builder, Location loc, Value condition) {
  cf::AssertOp::create(
      builder, loc, condition,
      withSourceLine("unsupported: a loop that makes a tensor longer more than "
                     "65,536 times, or by more than 1 GiB",
                     loc));
}

Value Rewriter::show(Location loc, const Prefix &prefix, Type type) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t each = 0; each < bufferType.getRank(); ++each)
    sizes.push_back(
        each == dim ? toIndex(rewriter, loc, prefix.length)
                    : tensor::getMixedSize(rewriter, loc, prefix.buffer, each));
  SmallVector<OpFoldResult> zeros(sizes.size(), rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> ones(sizes.size(), rewriter.getIndexAttr(1));
  Value part = tensor::ExtractSliceOp::create(rewriter, loc, prefix.buffer,
                                              zeros, sizes, ones);
  auto wanted = convertTensorType(cast<ValueTensorType>(type));
  if (part.getType() != wanted)
    part = tensor::CastOp::create(rewriter, loc, wanted, part);
  return torch_c::FromBuiltinTensorOp::create(rewriter, loc, type, part);
}

Value Rewriter::put(Location loc, Value tensor, Value buffer, Value begin) {
  auto type = convertTensorType(cast<ValueTensorType>(tensor.getType()));
  Value part = torch_c::ToBuiltinTensorOp::create(rewriter, loc, type, tensor);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, part);
  SmallVector<OpFoldResult> offsets(sizes.size(), rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> ones(sizes.size(), rewriter.getIndexAttr(1));
  offsets[dim] = toIndex(rewriter, loc, begin);
  return tensor::InsertSliceOp::create(rewriter, loc, part, buffer, offsets,
                                       sizes, ones);
}

void Rewriter::replace(Value old, const Prefix &prefix, Type type) {
  // Before the slice is built, which may be of `old`.
  auto uses = llvm::to_vector(llvm::make_pointer_range(old.getUses()));
  Value shown = show(old.getLoc(), prefix, type);
  known[shown] = prefix;
  for (OpOperand *use : uses)
    use->set(shown);
}

void Rewriter::enter(BlockArgument argument, Value length, Type type) {
  argument.setType(bufferType);
  rewriter.setInsertionPointToStart(argument.getOwner());
  replace(argument, {argument, length}, type);
}

Prefix Rewriter::append(Operation *cat) {
  SmallVector<Value> parts(getParts(cat));
  Prefix prefix = follow(parts.front());
  Location loc = cat->getLoc();
  rewriter.setInsertionPointAfter(cat);
  for (Value part : ArrayRef(parts).drop_front()) {
    Value size = createI64(rewriter, loc, *getSizeAlong(part, dim));
    Value end = arith::AddIOp::create(rewriter, loc, prefix.length, size);
    if (limit) {
      Value fits = arith::CmpIOp::create(rewriter, loc,
                                         arith::CmpIPredicate::sle, end, limit);
      assertRoom(rewriter, loc, fits);
    }
    prefix.buffer = put(loc, part, prefix.buffer, prefix.length);
    prefix.length = end;
  }
  Value old = cat->getResult(0);
  replace(old, prefix, old.getType());
  return prefix;
}

Prefix Rewriter::followBranch(scf::IfOp branch, unsigned number, Type type) {
  for (Region &region : branch->getRegions()) {
    Operation *yield = region.front().getTerminator();
    Prefix prefix = follow(yield->getOperand(number));
    yield->setOperand(number, prefix.buffer);
    yield->insertOperands(yield->getNumOperands(), prefix.length);
  }
  Operation *made =
      rebuildRegionOp(rewriter, branch, {}, rewriter.getI64Type());
  made->getResult(number).setType(bufferType);
  Prefix prefix{made->getResult(number), made->getResults().back()};
  rewriter.setInsertionPointAfter(made);
  replace(made->getResult(number), prefix, type);
  return prefix;
}

Prefix Rewriter::follow(Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  if (isCast(op))
    return follow(op->getOperand(0));
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return followBranch(branch, cast<OpResult>(value).getResultNumber(),
                        value.getType());
  return append(op);
}

namespace {

struct ReserveCapacity final
    : ssa_compiler::impl::ReserveCapacityPassBase<ReserveCapacity> {
  using Base::Base;

  void runOnOperation() override {
    bool changed = true, isRewritten = false;
    while (changed) {
      changed = false;
      getOperation()->walk([&](Operation *op) {
        if (auto loop = dyn_cast<scf::ForOp>(op))
          changed = rewriteFor(loop);
        else if (auto loop = dyn_cast<scf::WhileOp>(op))
          changed = rewriteWhile(loop) || rewriteList(loop);
        return changed ? WalkResult::interrupt() : WalkResult::advance();
      });
      isRewritten |= changed;
    }
    if (isRewritten)
      eraseDeadOps();
  }

private:
  /// The type of the buffer, and what its sizes are.
  struct Buffer {
    RankedTensorType type;
    Value empty;
    Value size;     // of the tensor along the dimension, an i64
    Value capacity; // of the buffer, an i64
  };

  static bool isCandidate(BlockArgument argument) {
    auto type = dyn_cast<ValueTensorType>(argument.getType());
    return type && type.hasSizes() && type.hasDtype() &&
           llvm::is_contained(type.getSizes(), torch::kUnknownSize);
  }

  /// Builds a buffer for the tensor that a loop begins with.
  Buffer buildBuffer(IRRewriter &rewriter, Location loc, Value first,
                     const Growth &growth, int64_t most, Value trips);

  bool rewriteFor(scf::ForOp loop);
  bool rewriteWhile(scf::WhileOp loop);
  bool rewriteList(scf::WhileOp loop);

  /// Erases the concatenations that nothing uses any more.
  void eraseDeadOps() {
    SmallVector<Operation *> ops;
    getOperation()->walk<WalkOrder::PreOrder>(
        [&](Operation *op) { ops.push_back(op); });
    for (Operation *op : llvm::reverse(ops))
      if (op->getNumRegions() == 0 && isOpTriviallyDead(op))
        op->erase();
  }
};

} // namespace

/// Memory that is reserved for a loop that may never use it.
static constexpr int64_t kMostBytes = int64_t{1} << 30;

/// Builds as many of some iterations as have room in that memory; at least 1.
static Value limitTrips(OpBuilder &builder, Location loc, Value first,
                        const Growth &growth, int64_t most, Value trips) {
  auto type = convertTensorType(cast<ValueTensorType>(first.getType()));
  Value whole = torch_c::ToBuiltinTensorOp::create(builder, loc, type, first);
  Type element = type.getElementType();
  int64_t parts = 1;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    element = complex.getElementType();
    parts = 2;
  }
  int64_t bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8) * parts;
  Value each = createI64(builder, loc, bytes * most);
  for (auto [dim, size] :
       llvm::enumerate(tensor::getMixedSizes(builder, loc, whole)))
    if (static_cast<int64_t>(dim) != growth.dim)
      each = builder.createOrFold<arith::MulIOp>(loc, each,
                                                 toI64(builder, loc, size));
  Value one = createI64(builder, loc, 1);
  each = builder.createOrFold<arith::MaxSIOp>(loc, each, one);
  Value room = builder.createOrFold<arith::DivUIOp>(
      loc, createI64(builder, loc, kMostBytes), each);
  room = builder.createOrFold<arith::MaxUIOp>(loc, room, one);
  return builder.createOrFold<arith::MinUIOp>(loc, trips, room);
}

ReserveCapacity::Buffer
ReserveCapacity::buildBuffer(IRRewriter &rewriter, Location loc, Value first,
                             const Growth &growth, int64_t most, Value trips) {
  auto type = convertTensorType(cast<ValueTensorType>(first.getType()));
  Value whole = torch_c::ToBuiltinTensorOp::create(rewriter, loc, type, first);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, whole);
  Buffer made;
  made.size = toI64(rewriter, loc, sizes[growth.dim]);
  Value room = rewriter.createOrFold<arith::MulIOp>(
      loc, trips, createI64(rewriter, loc, most));
  made.capacity = rewriter.createOrFold<arith::AddIOp>(loc, made.size, room);
  sizes[growth.dim] = toIndex(rewriter, loc, made.capacity);
  made.empty =
      tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
  made.type = cast<RankedTensorType>(made.empty.getType());
  return made;
}

bool ReserveCapacity::rewriteFor(scf::ForOp loop) {
  for (BlockArgument argument : loop.getRegionIterArgs()) {
    unsigned number = argument.getArgNumber() - 1;
    Growth growth(argument);
    if (!isCandidate(argument))
      continue;
    std::optional<int64_t> most =
        growth.measure(loop.getBody()->getTerminator()->getOperand(number));
    if (!most || *most == 0)
      continue;
    Location loc = loop.getLoc();
    IRRewriter rewriter(loop);
    Value count = buildTripCount(rewriter, loop);
    std::optional<int64_t> known = getConstantIntValue(count);
    if (known && *known > kMostTrips)
      continue;
    Value trips = rewriter.createOrFold<arith::MinUIOp>(
        loc, count, createI64(rewriter, loc, kMostTrips));
    if (!known) {
      Value fits =
          arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ule, count,
                                createI64(rewriter, loc, kMostTrips));
      assertRoom(rewriter, loc, fits);
    }
    Type type = argument.getType();
    Value first = skipCasts(loop.getInitArgs()[number]);
    Buffer buffer = buildBuffer(rewriter, loc, first, growth, *most, trips);
    Rewriter made(rewriter, growth.dim, buffer.type, {});
    Value begin =
        made.put(loc, first, buffer.empty, createI64(rewriter, loc, 0));
    loop.getInitArgsMutable()[number].set(begin);
    BlockArgument length =
        loop.getBody()->addArgument(rewriter.getI64Type(), loc);
    made.enter(argument, length, type);
    Operation *yield = loop.getBody()->getTerminator();
    Prefix last = made.follow(yield->getOperand(number));
    yield->setOperand(number, last.buffer);
    yield->insertOperands(yield->getNumOperands(), last.length);
    Operation *rebuilt =
        rebuildRegionOp(rewriter, loop, buffer.size, rewriter.getI64Type());
    made.leave(rebuilt->getResult(number), rebuilt->getResults().back(), type);
    ++numReserved;
    return true;
  }
  return false;
}

/// What a carried tensor is in front of the condition, null if something else.
static BlockArgument getHead(scf::WhileOp loop, BlockArgument argument) {
  unsigned after = argument.getArgNumber();
  auto head = dyn_cast<BlockArgument>(loop.getConditionOp().getArgs()[after]);
  return head && head.getOwner() == loop.getBeforeBody() &&
                 head.getType() == argument.getType()
             ? head
             : BlockArgument();
}

bool ReserveCapacity::rewriteWhile(scf::WhileOp loop) {
  for (BlockArgument argument : loop.getAfterArguments()) {
    unsigned after = argument.getArgNumber();
    scf::ConditionOp condition = loop.getConditionOp();
    BlockArgument head = getHead(loop, argument);
    if (!isCandidate(argument) || !head)
      continue;
    unsigned before = head.getArgNumber();
    Growth growth(argument);
    std::optional<int64_t> most =
        growth.measure(loop.getYieldOp().getOperand(before));
    if (!most || *most == 0)
      continue;
    Location loc = loop.getLoc();
    IRRewriter rewriter(loop);
    Value trips = buildMostTrips(rewriter, loop);
    if (!trips)
      continue;
    Type type = argument.getType();
    Type i64 = rewriter.getI64Type();
    Value first = skipCasts(loop.getInits()[before]);
    std::optional<int64_t> known = getConstantIntValue(trips);
    trips = limitTrips(rewriter, loc, first, growth, *most, trips);
    Buffer buffer = buildBuffer(rewriter, loc, first, growth, *most, trips);
    // There may be more iterations than there is room for.
    bool suffices = known && known == getConstantIntValue(trips);
    Value limit = suffices ? Value() : buffer.capacity;
    Rewriter made(rewriter, growth.dim, buffer.type, limit);
    Value begin =
        made.put(loc, first, buffer.empty, createI64(rewriter, loc, 0));
    loop.getInitsMutable()[before].set(begin);

    BlockArgument length = loop.getBeforeBody()->addArgument(i64, loc);
    made.enter(head, length, type);
    condition->setOperand(after + 1, head);
    condition->insertOperands(condition->getNumOperands(), length);

    length = loop.getAfterBody()->addArgument(i64, loc);
    made.enter(argument, length, type);
    Prefix last = made.follow(loop.getYieldOp().getOperand(before));
    Operation *yield = loop.getYieldOp();
    yield->setOperand(before, last.buffer);
    yield->insertOperands(yield->getNumOperands(), last.length);

    Operation *rebuilt = rebuildRegionOp(rewriter, loop, buffer.size, i64);
    made.leave(rebuilt->getResult(after), rebuilt->getResults().back(), type);
    ++numReserved;
    return true;
  }
  return false;
}

/// The most iterations for which a list has room.
static constexpr int64_t kMostAppends = int64_t{1} << 24;

bool ReserveCapacity::rewriteList(scf::WhileOp loop) {
  for (BlockArgument argument : loop.getAfterArguments()) {
    BlockArgument head = getHead(loop, argument);
    if (!isCandidate(argument) || !head)
      continue;
    unsigned number = head.getArgNumber();
    ListGrowth list(argument);
    std::optional<int64_t> most =
        list.measure(loop.getYieldOp().getOperand(number));
    if (!most || *most == 0)
      continue;
    Location loc = loop.getLoc();
    IRRewriter rewriter(loop);
    Value trips = buildMostTrips(rewriter, loop, kMostAppends);
    if (!trips)
      continue;
    Type type = argument.getType();
    Value first = skipCasts(loop.getInits()[number]);
    Growth growth(argument);
    growth.dim = 0;
    trips = limitTrips(rewriter, loc, first, growth, *most, trips);
    Buffer buffer = buildBuffer(rewriter, loc, first, growth, *most, trips);
    Rewriter made(rewriter, growth.dim, buffer.type, {});
    Value begin =
        made.put(loc, first, buffer.empty, createI64(rewriter, loc, 0));
    auto wanted = convertTensorType(cast<ValueTensorType>(type));
    if (begin.getType() != wanted)
      begin = tensor::CastOp::create(rewriter, loc, wanted, begin);
    loop.getInitsMutable()[number].set(
        torch_c::FromBuiltinTensorOp::create(rewriter, loc, type, begin));
    list.keepSize(rewriter);
    ++numReserved;
    return true;
  }
  return false;
}
