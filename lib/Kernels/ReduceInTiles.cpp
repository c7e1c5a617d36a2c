//===- ReduceInTiles.cpp - reductions in tiles of registers ---------------===//

#include "ReduceInTiles.h"

#include "ReduceInLanes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace ssa_compiler;

/// The bits of a row of a tile, two vectors of AVX2, and how many rows it has:
/// with what is loaded they fill the 16 registers of AVX2, and do not wait for
/// each other.
static constexpr int64_t kBitsOfRow = 512, kRows = 6;

/// A panel is made for so many rows at least, and of at most so many bytes.
static constexpr int64_t kFewestRows = 8, kMostBytesOfPanel = 256 << 10;

namespace {
/// Which dimensions of an op are tiled.
struct Tiling {
  /// The one that lies side by side in memory.
  unsigned lanes;
  /// The one of the rows, of which what is loaded in lanes does not depend.
  unsigned rows;
  /// How many lanes a row has.
  int64_t count;
  /// The operand that is copied into a panel first, in which what is loaded in
  /// lanes lies side by side; null if there is none.
  OpOperand *packed;
};
} // namespace

/// Whether the elements of the last dimension lie side by side, as those of
/// tensors will.
static bool isContiguous(ShapedType type) {
  auto buffer = dyn_cast<MemRefType>(type);
  return !buffer || buffer.getStridesAndOffset().first.back() == 1;
}

/// Whether an operand has numbers that are neighbours in a dimension side by
/// side in memory.
static bool isAlongMemory(linalg::LinalgOp op, OpOperand &operand,
                          unsigned dim) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  auto type = dyn_cast<ShapedType>(operand.get().getType());
  if (!type || map.getNumResults() == 0 || type.getElementType().isInteger(1))
    return false;
  AffineExpr last = map.getResult(map.getNumResults() - 1);
  AffineExpr step = simplifyAffineExpr(
      last - last.replace(getAffineDimExpr(dim, op.getContext()),
                          getAffineDimExpr(dim, op.getContext()) - 1),
      map.getNumDims(), map.getNumSymbols());
  return isContiguous(type) &&
         step == getAffineConstantExpr(1, op.getContext()) &&
         llvm::none_of(map.getResults().drop_back(), [&](AffineExpr expr) {
           return expr.isFunctionOfDim(dim);
         });
}

static bool dependsOn(linalg::LinalgOp op, OpOperand &operand, unsigned dim) {
  return op.getMatchingIndexingMap(&operand).isFunctionOfDim(dim);
}

/// The op that combines a result with what is computed of the operands, if the
/// body of an op does nothing else.
static Operation *findReduction(linalg::LinalgOp op) {
  Block &body = *op.getBlock();
  Operation *reduction = body.getTerminator()->getOperand(0).getDefiningOp();
  BlockArgument result = body.getArguments().back();
  if (!reduction || reduction->getBlock() != &body || !combines(reduction) ||
      !result.hasOneUse() || *result.user_begin() != reduction)
    return nullptr;
  bool fits = llvm::all_of(body.without_terminator(), [](Operation &inner) {
    return isVectorizable(&inner) &&
           llvm::none_of(inner.getOperandTypes(), [](Type type) {
             return type.isIndex() || type.isInteger(1);
           });
  });
  return fits ? reduction : nullptr;
}

/// Whether a panel of an operand pays: many rows use it, and it fits the cache.
static bool canPack(linalg::LinalgOp op, OpOperand &operand, unsigned rows,
                    int64_t bytesOfRow) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  int64_t bytes = bytesOfRow;
  for (unsigned dim : reductions) {
    if (ShapedType::isDynamic(sizes[dim]))
      return false;
    bytes *= sizes[dim];
  }
  return !dependsOn(op, operand, rows) &&
         (ShapedType::isDynamic(sizes[rows]) || sizes[rows] >= kFewestRows) &&
         bytes <= kMostBytesOfPanel && isa<MemRefType>(operand.get().getType());
}

/// The operand that has to be packed; null if there is none. Nothing if lanes
/// are no way to compute the op.
static std::optional<OpOperand *> findPacked(linalg::LinalgOp op,
                                             unsigned lanes, unsigned rows) {
  OpOperand *packed = nullptr;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    if (!dependsOn(op, *operand, lanes) || isAlongMemory(op, *operand, lanes))
      continue;
    if (packed || !canPack(op, *operand, rows, kBitsOfRow / 8))
      return std::nullopt;
    packed = operand;
  }
  return packed;
}

/// How an op is tiled, if it is.
static std::optional<Tiling> findTiling(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0 ||
      op.getNumParallelLoops() < 2 || op.hasIndexSemantics() ||
      !findReduction(op))
    return std::nullopt;
  OpOperand &result = *op.getDpsInitOperand(0);
  SmallVector<unsigned> parallel;
  op.getParallelDims(parallel);
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  unsigned bits = 8;
  for (Value argument : op.getBlock()->getArguments())
    bits = std::max(bits, argument.getType().getIntOrFloatBitWidth());
  int64_t count = kBitsOfRow / bits;
  for (unsigned lanes : parallel) {
    if (!isAlongMemory(op, result, lanes) ||
        (ShapedType::isStatic(sizes[lanes]) && sizes[lanes] < 4))
      continue;
    for (unsigned rows : llvm::reverse(parallel)) {
      // What is loaded in lanes is used by all rows, and what is loaded for a
      // row by all lanes.
      bool shares = false, reused = false;
      for (OpOperand *operand : op.getDpsInputOperands()) {
        bool inLanes = dependsOn(op, *operand, lanes);
        bool inRows = dependsOn(op, *operand, rows);
        shares |= inLanes && !inRows;
        reused |= inRows && !inLanes;
      }
      if (rows == lanes || !shares || !reused || sizes[rows] == 1)
        continue;
      if (std::optional<OpOperand *> packed = findPacked(op, lanes, rows))
        return Tiling{lanes, rows, count, *packed};
    }
  }
  return std::nullopt;
}

namespace {
/// Writes the loops of an op.
class TileWriter {
public:
  TileWriter(linalg::LinalgOp op, Tiling tiling, RewriterBase &rewriter)
      : op(op), tiling(tiling), builder(rewriter), loc(op.getLoc()),
        reduction(findReduction(op)) {
    for (Range range : op.createLoopRanges(builder, loc))
      sizes.push_back(range.size);
    positions.resize(sizes.size());
  }

  /// How many rows there are.
  OpFoldResult countRows() const { return sizes[tiling.rows]; }

  void write() {
    SmallVector<unsigned> outer;
    op.getParallelDims(outer);
    llvm::erase(outer, tiling.lanes);
    llvm::erase(outer, tiling.rows);
    if (tiling.packed)
      allocatePanel();
    writeOuter(outer);
  }

private:
  Value index(int64_t number) {
    return arith::ConstantIndexOp::create(builder, loc, number);
  }

  Value size(unsigned dim) {
    return getValueOrCreateConstantIndexOp(builder, loc, sizes[dim]);
  }

  void loop(Value begin, Value end, int64_t step, unsigned dim,
            function_ref<void()> body) {
    auto made = scf::ForOp::create(builder, loc, begin, end, index(step));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(made.getBody());
    positions[dim] = made.getInductionVar();
    body();
  }

  void writeOuter(ArrayRef<unsigned> dims) {
    if (dims.empty())
      return writeLanes();
    loop(index(0), size(dims.front()), 1, dims.front(),
         [&] { writeOuter(dims.drop_front()); });
  }

  /// Calls `body` for a dimension in steps of `most`, and for what is left in
  /// smaller ones: at once if their number is known, else one by one.
  void writeInSteps(unsigned dim, int64_t most, bool halves,
                    function_ref<void(int64_t)> body) {
    std::optional<int64_t> known = getConstantIntValue(sizes[dim]);
    if (!known) {
      Value end = arith::SubIOp::create(
          builder, loc, size(dim),
          arith::RemUIOp::create(builder, loc, size(dim), index(most)));
      loop(index(0), end, most, dim, [&] { body(most); });
      loop(end, size(dim), 1, dim, [&] { body(1); });
      return;
    }
    int64_t done = *known - *known % most;
    if (done != 0)
      loop(index(0), index(done), most, dim, [&] { body(most); });
    for (int64_t step = most; done != *known;) {
      step = halves ? step / 2 : *known - done;
      if (step > *known - done)
        continue;
      positions[dim] = index(done);
      body(step);
      done += step;
    }
  }

  void writeLanes() {
    writeInSteps(tiling.lanes, tiling.count, /*halves=*/true,
                 [&](int64_t lanes) {
                   if (tiling.packed)
                     pack(lanes);
                   writeInSteps(tiling.rows, kRows, /*halves=*/false,
                                [&](int64_t rows) { writeTile(lanes, rows); });
                 });
  }

  void allocatePanel() {
    SmallVector<int64_t> shape;
    op.getReductionDims(reductions);
    for (unsigned dim : reductions)
      shape.push_back(*getConstantIntValue(sizes[dim]));
    shape.push_back(tiling.count);
    Type element = getElementTypeOrSelf(tiling.packed->get().getType());
    panel =
        memref::AllocOp::create(builder, loc, MemRefType::get(shape, element));
  }

  /// Copies what some lanes have of an operand into the panel.
  void pack(int64_t lanes) {
    SmallVector<unsigned> outer(reductions);
    auto along = llvm::find_if(outer, [&](unsigned dim) {
      return isAlongMemory(op, *tiling.packed, dim);
    });
    if (lanes != tiling.count || along == outer.end())
      return packOuter(outer, [&] { packNumbers(lanes); });
    unsigned dim = *along;
    outer.erase(along);
    packOuter(outer, [&] {
      int64_t end = *getConstantIntValue(sizes[dim]);
      int64_t blocks = end - end % lanes;
      if (blocks != 0)
        loop(index(0), index(blocks), lanes, dim, [&] { packBlock(dim); });
      if (blocks != end)
        loop(index(blocks), index(end), 1, dim, [&] { packNumbers(lanes); });
    });
  }

  void packOuter(ArrayRef<unsigned> dims, function_ref<void()> body) {
    if (dims.empty())
      return body();
    loop(index(0), size(dims.front()), 1, dims.front(),
         [&] { packOuter(dims.drop_front(), body); });
  }

  /// Copies a row of the panel.
  void packNumbers(int64_t lanes) {
    Value first = positions[tiling.lanes];
    loop(index(0), index(lanes), 1, tiling.lanes, [&] {
      Value lane = positions[tiling.lanes];
      positions[tiling.lanes] =
          arith::AddIOp::create(builder, loc, first, lane);
      Value number = memref::LoadOp::create(builder, loc, tiling.packed->get(),
                                            indices(*tiling.packed, 0));
      memref::StoreOp::create(builder, loc, number, panel, panelIndices(lane));
    });
    positions[tiling.lanes] = first;
  }

  /// Copies as many rows of the panel as they have lanes: transposes a square.
  void packBlock(unsigned along) {
    int64_t count = tiling.count;
    auto type = VectorType::get(
        {count}, getElementTypeOrSelf(tiling.packed->get().getType()));
    Value first = positions[tiling.lanes], begin = positions[along];
    SmallVector<Value> rows;
    for (int64_t lane = 0; lane < count; ++lane) {
      positions[tiling.lanes] =
          arith::AddIOp::create(builder, loc, first, index(lane));
      rows.push_back(vector::LoadOp::create(builder, loc, type,
                                            tiling.packed->get(),
                                            indices(*tiling.packed, 0)));
    }
    positions[tiling.lanes] = first;
    transpose(rows);
    for (int64_t row = 0; row < count; ++row) {
      positions[along] = arith::AddIOp::create(builder, loc, begin, index(row));
      vector::StoreOp::create(builder, loc, rows[row], panel,
                              panelIndices(index(0)));
    }
    positions[along] = begin;
  }

  /// Transposes a square of a power of two: exchanges quarters, then quarters
  /// of these, and so on.
  void transpose(MutableArrayRef<Value> rows) {
    int64_t count = rows.size();
    for (int64_t half = count / 2; half != 0; half /= 2) {
      SmallVector<int64_t> upper, lower;
      for (int64_t lane = 0; lane < count; ++lane) {
        bool left = (lane & half) == 0;
        upper.push_back(left ? lane : count + lane - half);
        lower.push_back(left ? lane + half : count + lane);
      }
      for (int64_t row = 0; row < count; ++row) {
        if ((row & half) != 0)
          continue;
        Value a = rows[row], b = rows[row + half];
        rows[row] = vector::ShuffleOp::create(builder, loc, a, b, upper);
        rows[row + half] = vector::ShuffleOp::create(builder, loc, a, b, lower);
      }
    }
  }

  SmallVector<Value> panelIndices(Value lane) {
    SmallVector<Value> places;
    for (unsigned dim : reductions)
      places.push_back(positions[dim]);
    places.push_back(lane);
    return places;
  }

  /// Computes some rows of results.
  void writeTile(int64_t lanes, int64_t rows) {
    OpOperand &result = *op.getDpsInitOperand(0);
    SmallVector<Value> sums;
    for (int64_t row = 0; row < rows; ++row)
      sums.push_back(load(result, lanes, row));
    SmallVector<unsigned> dims;
    op.getReductionDims(dims);
    sums = writeReduction(dims, lanes, sums);
    for (int64_t row = 0; row < rows; ++row)
      vector::StoreOp::create(builder, loc, sums[row], result.get(),
                              indices(result, row));
  }

  SmallVector<Value> writeReduction(ArrayRef<unsigned> dims, int64_t lanes,
                                    ArrayRef<Value> sums) {
    if (dims.empty())
      return compute(lanes, sums);
    auto made = scf::ForOp::create(builder, loc, index(0), size(dims.front()),
                                   index(1), sums);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(made.getBody());
    positions[dims.front()] = made.getInductionVar();
    SmallVector<Value> carried(made.getRegionIterArgs());
    scf::YieldOp::create(builder, loc,
                         writeReduction(dims.drop_front(), lanes, carried));
    return SmallVector<Value>(made.getResults());
  }

  /// Adds to each row what one step of the reductions computes.
  SmallVector<Value> compute(int64_t lanes, ArrayRef<Value> sums) {
    IRMapping shared;
    SmallVector<Value> results;
    for (auto [row, sum] : llvm::enumerate(sums)) {
      IRMapping known = shared;
      known.map(op.getBlock()->getArguments().back(), sum);
      for (OpOperand *operand : op.getDpsInputOperands()) {
        Value argument = op.getMatchingBlockArgument(operand);
        if (known.contains(argument))
          continue;
        Value loaded = load(*operand, lanes, row);
        known.map(argument, loaded);
        if (!dependsOn(op, *operand, tiling.rows))
          shared.map(argument, loaded);
      }
      for (Operation &inner : op.getBlock()->without_terminator())
        computeInLanes(inner, lanes, known);
      results.push_back(known.lookup(reduction->getResult(0)));
    }
    return results;
  }

  void computeInLanes(Operation &inner, int64_t lanes, IRMapping &known) {
    auto type = VectorType::get({lanes}, inner.getResult(0).getType());
    Value made;
    if (isa<arith::ConstantOp>(inner)) {
      made = broadcast(builder.clone(inner)->getResult(0), type);
    } else {
      OperationState state(inner.getLoc(), inner.getName());
      for (Value operand : inner.getOperands())
        state.addOperands(
            broadcast(known.lookupOrDefault(operand),
                      VectorType::get({lanes}, operand.getType())));
      state.addTypes(type);
      state.addAttributes(inner.getAttrs());
      made = builder.create(state)->getResult(0);
    }
    known.map(inner.getResult(0), made);
  }

  Value broadcast(Value value, VectorType type) {
    if (isa<VectorType>(value.getType()))
      return value;
    return vector::BroadcastOp::create(builder, loc, type, value);
  }

  SmallVector<Value> indices(OpOperand &operand, int64_t row) {
    SmallVector<OpFoldResult> places(positions.begin(), positions.end());
    if (row != 0)
      places[tiling.rows] =
          arith::AddIOp::create(builder, loc, positions[tiling.rows],
                                index(row))
              .getResult();
    // Those of inner reductions have no position yet where results are read.
    for (OpFoldResult &place : places)
      if (!place)
        place = builder.getIndexAttr(0);
    SmallVector<Value> made;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (AffineExpr expr : map.getResults())
      made.push_back(getValueOrCreateConstantIndexOp(
          builder, loc,
          affine::makeComposedFoldedAffineApply(
              builder, loc,
              AffineMap::get(map.getNumDims(), map.getNumSymbols(), expr),
              places)));
    return made;
  }

  /// What an operand has for a row: in lanes, or one number for all.
  Value load(OpOperand &operand, int64_t lanes, int64_t row) {
    Type element = getElementTypeOrSelf(operand.get().getType());
    if (!isa<MemRefType>(operand.get().getType()))
      return operand.get();
    if (&operand == tiling.packed)
      return vector::LoadOp::create(builder, loc,
                                    VectorType::get({lanes}, element), panel,
                                    panelIndices(index(0)));
    if (!dependsOn(op, operand, tiling.lanes))
      return memref::LoadOp::create(builder, loc, operand.get(),
                                    indices(operand, row));
    return vector::LoadOp::create(builder, loc,
                                  VectorType::get({lanes}, element),
                                  operand.get(), indices(operand, row));
  }

  linalg::LinalgOp op;
  Tiling tiling;
  RewriterBase &builder;
  Location loc;
  Operation *reduction;
  SmallVector<OpFoldResult> sizes;
  SmallVector<Value> positions;
  SmallVector<unsigned> reductions;
  Value panel;
};
} // namespace

bool ssa_compiler::canReduceInTiles(linalg::LinalgOp op) {
  return findTiling(op).has_value();
}

linalg::LinalgOp ssa_compiler::reduceInTiles(linalg::LinalgOp op,
                                             RewriterBase &rewriter) {
  std::optional<Tiling> tiling = findTiling(op);
  if (!tiling || !op.hasPureBufferSemantics())
    return op;
  rewriter.setInsertionPoint(op);
  TileWriter writer(op, *tiling, rewriter);
  auto rows = dyn_cast<Value>(writer.countRows());
  if (!tiling->packed || !rows) {
    writer.write();
    rewriter.eraseOp(op);
    return nullptr;
  }
  // A panel pays for many rows only.
  Location loc = op.getLoc();
  Value many = arith::CmpIOp::create(
      rewriter, loc, arith::CmpIPredicate::sge, rows,
      arith::ConstantIndexOp::create(rewriter, loc, kFewestRows));
  auto branch = scf::IfOp::create(rewriter, loc, many, /*withElseRegion=*/true);
  rewriter.setInsertionPoint(branch.thenYield());
  writer.write();
  rewriter.moveOpBefore(op, branch.elseYield());
  return op;
}
