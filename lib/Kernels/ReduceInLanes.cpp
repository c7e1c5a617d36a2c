//===- ReduceInLanes.cpp - reductions in the lanes of vectors -------------===//

#include "ReduceInLanes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ssa_compiler;

/// How many numbers are combined at once: two to four vectors of AVX-512, as an
/// operation waits for the one before it.
static constexpr int64_t kLanes = 32, kFewestLanes = 4;

/// Whether a load reads numbers that lie side by side, one in each trip.
static bool isAlongMemory(memref::LoadOp load, scf::ForOp loop) {
  auto [strides, offset] = load.getMemRefType().getStridesAndOffset();
  (void)offset;
  ValueRange indices = load.getIndices();
  return !indices.empty() && strides.back() == 1 &&
         indices.back() == loop.getInductionVar() &&
         loop.isDefinedOutsideOfLoop(load.getMemRef()) &&
         llvm::all_of(indices.drop_back(), [&](Value index) {
           return loop.isDefinedOutsideOfLoop(index);
         });
}

bool ssa_compiler::isVectorizable(Operation *op) {
  if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() != 1)
    return false;
  if (isa<arith::ArithDialect>(op->getDialect()))
    return op->getResult(0).getType().isIntOrFloat();
  // Of double precision the others are calls.
  return isa<math::AbsFOp, math::SqrtOp, math::FmaOp, math::CopySignOp,
             math::FloorOp, math::CeilOp, math::TruncOp, math::RoundEvenOp>(
             op) ||
         (isa<math::ExpOp, math::LogOp, math::TanhOp, math::RsqrtOp>(op) &&
          op->getResult(0).getType().isF32());
}

/// Whether an op adds up numbers.
static bool adds(Operation *op) {
  return isa<arith::AddFOp, arith::AddIOp>(op);
}

bool ssa_compiler::combines(Operation *op) {
  return adds(op) || isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxSIOp,
                         arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp,
                         arith::AndIOp, arith::OrIOp>(op);
}

/// The reductions that a loop carries, of floats, integers or bools; none if it
/// carries anything else, or integers alone: LLVM vectorizes those, and those
/// of bools so that each waits for the one before it.
static SmallVector<Operation *> findReductions(scf::ForOp loop) {
  SmallVector<Operation *> reductions;
  bool ofIntegers = true;
  for (auto [carried, yielded] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues())) {
    Operation *op = yielded.getDefiningOp();
    Type type = yielded.getType();
    bool isBool = type.isInteger(1);
    bool fits = op && combines(op) && type.isIntOrFloat() &&
                (!isa<FloatType>(type) || type.isF32() || type.isF64()) &&
                (!isBool || isa<arith::AndIOp, arith::OrIOp>(op));
    if (!fits || !carried.hasOneUse() || !op->hasOneUse() ||
        (op->getOperand(0) == carried) == (op->getOperand(1) == carried))
      return {};
    ofIntegers &= isa<IntegerType>(type) && !isBool;
    reductions.push_back(op);
  }
  return ofIntegers ? SmallVector<Operation *>() : reductions;
}

/// Whether the body of a loop can be computed for several trips at once.
static bool fitsLanes(scf::ForOp loop) {
  return llvm::all_of(loop.getBody()->without_terminator(), [&](Operation &op) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      return isAlongMemory(load, loop) && load.getType().isIntOrFloat();
    return isVectorizable(&op) &&
           llvm::none_of(op.getOperands(), [&](Value operand) {
             return operand == loop.getInductionVar() ||
                    operand.getType().isIndex();
           });
  });
}

namespace {
/// Computes the body of a loop for as many trips as there are lanes.
class Lanes {
public:
  Lanes(scf::ForOp loop, int64_t count, OpBuilder &builder, Value position)
      : loop(loop), count(count), builder(builder), position(position) {}

  void compute(Operation &op) {
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      SmallVector<Value> indices(load.getIndices());
      indices.back() = position;
      known.map(load.getResult(),
                vector::LoadOp::create(builder, load.getLoc(),
                                       vectorOf(load.getType()),
                                       load.getMemRef(), indices));
      return;
    }
    OperationState state(op.getLoc(), op.getName());
    for (Value operand : op.getOperands())
      state.addOperands(get(operand));
    state.addTypes(vectorOf(op.getResult(0).getType()));
    if (isa<arith::ConstantOp>(op)) {
      known.map(op.getResult(0), broadcast(builder.clone(op)->getResult(0)));
      return;
    }
    state.addAttributes(op.getAttrs());
    known.map(op.getResult(0), builder.create(state)->getResult(0));
  }

  Value get(Value value) {
    if (Value found = known.lookupOrNull(value))
      return found;
    Value made = broadcast(value);
    known.map(value, made);
    return made;
  }

  void set(Value value, Value lanes) { known.map(value, lanes); }

  VectorType vectorOf(Type type) { return VectorType::get({count}, type); }

private:
  Value broadcast(Value value) {
    return vector::BroadcastOp::create(builder, loop.getLoc(),
                                       vectorOf(value.getType()), value);
  }

  scf::ForOp loop;
  int64_t count;
  OpBuilder &builder;
  Value position;
  IRMapping known;
};
} // namespace

static Value combine(OpBuilder &builder, Location loc, Operation *op, Value a,
                     Value b) {
  return builder
      .create(OperationState(loc, op->getName(), ValueRange{a, b}, a.getType(),
                             op->getAttrs()))
      ->getResult(0);
}

/// Zeros that change no number which they are added to: of floats, -0.
static TypedAttr getZeros(VectorType type) {
  auto element = dyn_cast<FloatType>(type.getElementType());
  if (!element)
    return cast<TypedAttr>(Builder(type.getContext()).getZeroAttr(type));
  return DenseElementsAttr::get(
      type, APFloat::getZero(element.getFloatSemantics(), /*Negative=*/true));
}

/// What lanes begin with: what the loop does, or, of sums, zeros.
static Value getStart(OpBuilder &builder, Location loc, Operation *op,
                      Value start, int64_t count) {
  auto type = VectorType::get({count}, start.getType());
  if (adds(op))
    return arith::ConstantOp::create(builder, loc, getZeros(type));
  return vector::BroadcastOp::create(builder, loc, type, start);
}

/// Combines the lanes of a vector, the upper half with the lower one.
static Value combineLanes(OpBuilder &builder, Location loc, Operation *op,
                          Value lanes) {
  int64_t count = cast<VectorType>(lanes.getType()).getDimSize(0);
  for (int64_t half = count / 2; half != 0; half /= 2) {
    auto part = [&](int64_t offset) {
      auto places = llvm::to_vector(llvm::seq<int64_t>(offset, offset + half));
      return vector::ShuffleOp::create(builder, loc, lanes, lanes, places);
    };
    lanes = combine(builder, loc, op, part(0), part(half));
  }
  return vector::ExtractOp::create(builder, loc, lanes, 0);
}

void ssa_compiler::reduceInLanes(scf::ForOp loop, RewriterBase &rewriter) {
  SmallVector<Operation *> reductions = findReductions(loop);
  if (reductions.empty() || !fitsLanes(loop) ||
      !isConstantIntValue(loop.getStep(), 1) ||
      !isConstantIntValue(loop.getLowerBound(), 0))
    return;
  int64_t count = kLanes;
  std::optional<int64_t> trips = getConstantIntValue(loop.getUpperBound());
  while (trips && count > *trips)
    count /= 2;
  if (count < kFewestLanes)
    return;

  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  auto index = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, number);
  };
  Value end = trips ? index(*trips - *trips % count)
                    : arith::AndIOp::create(rewriter, loc, loop.getUpperBound(),
                                            index(-count))
                          .getResult();
  SmallVector<Value> starts;
  for (auto [op, start] : llvm::zip_equal(reductions, loop.getInitArgs()))
    starts.push_back(getStart(rewriter, loc, op, start, count));
  auto vectorized = scf::ForOp::create(
      rewriter, loc, loop.getLowerBound(), end, index(count), starts,
      [&](OpBuilder &builder, Location loc, Value position,
          ValueRange carried) {
        Lanes lanes(loop, count, builder, position);
        for (auto [argument, lane] :
             llvm::zip_equal(loop.getRegionIterArgs(), carried))
          lanes.set(argument, lane);
        for (Operation &op : loop.getBody()->without_terminator())
          lanes.compute(op);
        SmallVector<Value> yielded;
        for (Value value : loop.getYieldedValues())
          yielded.push_back(lanes.get(value));
        scf::YieldOp::create(builder, loc, yielded);
      });
  SmallVector<Value> begun;
  for (auto [op, start, lanes] :
       llvm::zip_equal(reductions, loop.getInitArgs(), vectorized.getResults()))
    begun.push_back(combine(rewriter, loc, op, start,
                            combineLanes(rewriter, loc, op, lanes)));
  // The loop does what is left.
  rewriter.modifyOpInPlace(loop, [&] {
    loop.getLowerBoundMutable().assign(end);
    loop.getInitArgsMutable().assign(begun);
  });
}
