//===- LowerTMTensor.cpp - scans and scatters as loops over numbers -------===//
//
// torch-mlir leaves these ops to whoever compiles its output. Their dialect is
// not known here: they are read in generic form.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_LOWERTMTENSORPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;

/// A property of an op whose dialect is not known.
template <typename T> static T getProperty(Operation *op, StringRef name) {
  auto properties =
      dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
  Attribute found = properties ? properties.get(name) : op->getAttr(name);
  return dyn_cast_or_null<T>(found);
}

/// What the op's region makes of two numbers.
static Value combine(OpBuilder &builder, Operation *op, Value first,
                     Value second) {
  IRMapping mapping;
  Block &body = op->getRegion(0).front();
  mapping.map(body.getArgument(0), first);
  mapping.map(body.getArgument(1), second);
  // The last op yields; nothing says so of an op that is not known.
  for (Operation &inner : llvm::drop_end(body.getOperations()))
    builder.clone(inner, mapping);
  return mapping.lookupOrDefault(body.back().getOperand(0));
}

/// What combined with a number is that number, whichever it is; none if that is
/// not known.
static TypedAttr getIdentity(OpBuilder &builder, Operation *op) {
  Block &body = op->getRegion(0).front();
  Operation *combiner = body.back().getOperand(0).getDefiningOp();
  if (!combiner || combiner != &body.front() ||
      !llvm::all_of(body.getArguments().take_front(2), [&](Value argument) {
        return llvm::is_contained(combiner->getOperands(), argument);
      }))
    return nullptr;
  Type type = combiner->getResult(0).getType();
  if (isa<arith::AddFOp>(combiner))
    return builder.getFloatAttr(
        type, APFloat::getZero(cast<FloatType>(type).getFloatSemantics(),
                               /*Negative=*/true));
  if (isa<arith::AddIOp>(combiner))
    return builder.getIntegerAttr(type, 0);
  return isa<arith::MulFOp, arith::MulIOp>(combiner) ? builder.getOneAttr(type)
                                                     : nullptr;
}

namespace {
/// Creates loops at one place.
struct Loops {
  OpBuilder &builder;
  Location loc;

  Value index(int64_t number) {
    return arith::ConstantIndexOp::create(builder, loc, number);
  }

  /// The sizes of a tensor.
  SmallVector<Value> sizesOf(Value tensor) {
    SmallVector<Value> sizes;
    for (OpFoldResult size : tensor::getMixedSizes(builder, loc, tensor))
      sizes.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
    return sizes;
  }

  /// A loop for each size, around a body that is given the positions and the
  /// tensors so far; returns the tensors in the end.
  SmallVector<Value>
  nest(ArrayRef<Value> ends, ValueRange tensors,
       function_ref<SmallVector<Value>(ValueRange, ValueRange)> body) {
    Value zero = index(0), one = index(1);
    scf::LoopNest made = scf::buildLoopNest(
        builder, loc, SmallVector<Value>(ends.size(), zero), ends,
        SmallVector<Value>(ends.size(), one), tensors,
        [&](OpBuilder &, Location, ValueRange at, ValueRange so_far) {
          SmallVector<Value> results = body(at, so_far);
          return scf::ValueVector(results.begin(), results.end());
        });
    return SmallVector<Value>(made.results);
  }

  Value extract(Value tensor, ValueRange at) {
    return tensor::ExtractOp::create(builder, loc, tensor, at);
  }

  Value insert(Value number, Value tensor, ValueRange at) {
    return tensor::InsertOp::create(builder, loc, number, tensor, at);
  }
};
} // namespace

static bool hasElements(Operation *op) {
  return llvm::all_of(op->getOperandTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !llvm::is_contained(tensor.getShape(), 0);
  });
}

/// scan(input, output, last): along a dimension, each element of the output is
/// what the region makes of the one before and an element of the input.
static LogicalResult lowerScan(Operation *op) {
  auto dimension = getProperty<IntegerAttr>(op, "dimension");
  auto inclusive = getProperty<BoolAttr>(op, "inclusive");
  if (!dimension || !inclusive || op->getNumOperands() != 3)
    return failure();
  Value input = op->getOperand(0);
  OpBuilder builder(op);
  Loops loops{builder, op->getLoc()};
  SmallVector<Value> others = loops.sizesOf(input);
  unsigned along = dimension.getInt();
  Value end = others[along];
  others.erase(others.begin() + along);
  // What the output holds before is never read.
  auto type = cast<RankedTensorType>(op->getOperand(1).getType());
  Value output = tensor::EmptyOp::create(
      builder, op->getLoc(),
      tensor::getMixedSizes(builder, op->getLoc(), op->getOperand(1)),
      type.getElementType());
  TypedAttr identity = inclusive.getValue() && op->getResult(1).use_empty()
                           ? getIdentity(builder, op)
                           : TypedAttr();
  auto made = loops.nest(
      others, ValueRange{output, op->getOperand(2)},
      [&](ValueRange at, ValueRange tensors) -> SmallVector<Value> {
        auto place = [&](Value position) {
          SmallVector<Value> found(at);
          found.insert(found.begin() + along, position);
          return found;
        };
        Value zero = loops.index(0), one = loops.index(1);
        Value before =
            identity ? arith::ConstantOp::create(builder, loops.loc, identity)
                           .getResult()
                     : loops.extract(tensors[1], at);
        auto loop = scf::ForOp::create(
            builder, loops.loc, zero, end, one, ValueRange{tensors[0], before},
            [&](OpBuilder &inner, Location loc, Value position,
                ValueRange values) {
              Loops body{inner, loc};
              if (identity) {
                Value next = combine(inner, op, values[1],
                                     body.extract(input, place(position)));
                Value written = body.insert(next, values[0], place(position));
                scf::YieldOp::create(inner, loc, ValueRange{written, next});
                return;
              }
              // There may be no first element, so it is no case of its own.
              Value isFirst = arith::CmpIOp::create(
                  inner, loc, arith::CmpIPredicate::eq, position, zero);
              Value from = position;
              if (!inclusive.getValue()) {
                from = arith::SubIOp::create(inner, loc, position, one);
                from = arith::MaxSIOp::create(inner, loc, from, zero);
              }
              Value number = body.extract(input, place(from));
              Value next = combine(inner, op, values[1], number);
              Value first = inclusive.getValue() ? number : values[1];
              next = arith::SelectOp::create(inner, loc, isFirst, first, next);
              Value written = body.insert(next, values[0], place(position));
              scf::YieldOp::create(inner, loc, ValueRange{written, next});
            });
        return {loop.getResult(0),
                loops.insert(loop.getResult(1), tensors[1], at)};
      });
  op->replaceAllUsesWith(made);
  return success();
}

/// scatter(updates, indices, original): each row of the updates goes where its
/// row of indices says, one after the other; the region combines a number with
/// what is there.
static LogicalResult lowerScatter(Operation *op) {
  auto dimensions = getProperty<DenseI64ArrayAttr>(op, "dimension_map");
  if (!dimensions || op->getNumOperands() != 3)
    return failure();
  Value updates = op->getOperand(0), indices = op->getOperand(1);
  auto updatesType = cast<RankedTensorType>(updates.getType());
  auto originalType = cast<RankedTensorType>(op->getOperand(2).getType());
  // The last dimensions of the updates are the last of the original.
  int64_t shift = originalType.getRank() - updatesType.getRank();
  OpBuilder builder(op);
  Loops loops{builder, op->getLoc()};
  auto made = loops.nest(
      loops.sizesOf(updates), op->getOperand(2),
      [&](ValueRange at, ValueRange tensors) -> SmallVector<Value> {
        SmallVector<Value> place(originalType.getRank());
        for (int64_t dim = 0; dim < originalType.getRank(); ++dim)
          place[dim] = dim - shift >= 1 ? at[dim - shift] : loops.index(0);
        for (auto [number, dim] : llvm::enumerate(dimensions.asArrayRef())) {
          Value index = arith::IndexCastOp::create(
              builder, loops.loc, builder.getIndexType(),
              loops.extract(indices, {at[0], loops.index(number)}));
          place[dim] =
              dim - shift >= 1
                  ? arith::AddIOp::create(builder, loops.loc, index, place[dim])
                        .getResult()
                  : index;
        }
        Value update = loops.extract(updates, at);
        Value before = loops.extract(tensors[0], place);
        Value number = combine(builder, op, update, before);
        return {loops.insert(number, tensors[0], place)};
      });
  op->replaceAllUsesWith(made);
  return success();
}

namespace {
struct LowerTMTensorPass
    : public ssa_compiler::impl::LowerTMTensorPassBase<LowerTMTensorPass> {
  using LowerTMTensorPassBase::LowerTMTensorPassBase;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      StringRef name = op->getName().getStringRef();
      if (name == "tm_tensor.scan" || name == "tm_tensor.scatter")
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (!hasElements(op))
        continue;
      bool scans = op->getName().getStringRef() == "tm_tensor.scan";
      if (succeeded(scans ? lowerScan(op) : lowerScatter(op)))
        op->erase();
    }
  }
};
} // namespace
