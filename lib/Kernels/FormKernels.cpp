//===- FormKernels.cpp - which functions can be one kernel ----------------===//

#include "Ranges.h"
#include "Roles.h"
#include "SizeOrigins.h"
#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_FORMKERNELSPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

/// Whether kernels compute with values of a type.
static bool isSupported(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return !tensor.getEncoding() && !llvm::is_contained(tensor.getShape(), 0) &&
           isSupported(tensor.getElementType());
  return type.isIndex() || type.isSignlessInteger(1) ||
         type.isSignlessInteger(8) || type.isSignlessInteger(16) ||
         type.isSignlessInteger(32) || type.isSignlessInteger(64) ||
         type.isF32() || type.isF64();
}

/// Whether an op is part of the body of a linalg op.
static bool isElementwise(Operation *op) {
  return isa_and_nonnull<linalg::LinalgOp>(op->getParentOp());
}

/// Whether a function of the math dialect is as exact in a kernel as in the
/// backend's own code, and can be linked there.
static bool isExactInKernel(Operation *op) {
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  if (!isa<FloatType>(type))
    return isa<math::AbsIOp, math::CtPopOp>(op);
  if (isa<math::AbsFOp, math::CopySignOp, math::SqrtOp, math::RsqrtOp,
          math::FloorOp, math::CeilOp, math::RoundEvenOp, math::TruncOp>(op))
    return true;
  // Python's own functions are those of the C library.
  if (!isElementwise(op))
    return false;
  return isa<math::ExpOp, math::LogOp>(op) ||
         (type.isF32() && isa<math::TanhOp, math::ErfOp, math::Log1pOp,
                              math::ExpM1Op, math::RoundOp>(op));
}

/// Lets divisions divide by 1 where dividing would end the process: by 0, where
/// the program's own check raises, and of the smallest number by -1, whose
/// quotient and remainder by 1 are what arithmetic modulo 2^n gives.
static void guardDivisions(func::FuncOp function) {
  function.walk([](Operation *op) {
    if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
             arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
      return;
    Value divisor = op->getOperand(1);
    APInt known;
    if (matchPattern(divisor, m_ConstantInt(&known)) && !known.isZero() &&
        !known.isAllOnes())
      return;
    OpBuilder builder(op);
    Location loc = op->getLoc();
    Type type = divisor.getType();
    auto constant = [&](const APInt &value) -> Value {
      return arith::ConstantOp::create(builder, loc,
                                       builder.getIntegerAttr(type, value));
    };
    auto equals = [&](Value value, const APInt &other) -> Value {
      return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                   value, constant(other));
    };
    unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    Value traps = equals(divisor, APInt::getZero(width));
    if (!isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op)) {
      Value minus = equals(divisor, APInt::getAllOnes(width));
      Value least = equals(op->getOperand(0), APInt::getSignedMinValue(width));
      Value overflows = arith::AndIOp::create(builder, loc, minus, least);
      traps = arith::OrIOp::create(builder, loc, traps, overflows);
    }
    op->setOperand(1,
                   arith::SelectOp::create(builder, loc, traps,
                                           constant(APInt(width, 1)), divisor));
  });
}

/// Erases assertions about elements: torch-mlir puts one into the reciprocal,
/// which rejects 0. The checks of the program stand in front of its ops.
static void dropElementAsserts(func::FuncOp function) {
  SmallVector<cf::AssertOp> assertions;
  function.walk([&](cf::AssertOp op) {
    if (isElementwise(op))
      assertions.push_back(op);
  });
  for (cf::AssertOp op : assertions)
    op.erase();
}

/// Hides the products of Python floats: the code generator would contract them
/// and the sums that they are part of to multiply-adds, which round once.
static void keepProducts(func::FuncOp function) {
  SmallVector<arith::MulFOp> products;
  function.walk([&](arith::MulFOp op) {
    if (!isElementwise(op))
      products.push_back(op);
  });
  for (arith::MulFOp op : products) {
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    auto hidden = LLVM::InlineAsmOp::create(
        builder, op.getLoc(), op.getType(), op->getResults(),
        /*asm_string=*/"", /*constraints=*/"=x,0", /*has_side_effects=*/false,
        /*is_align_stack=*/false, LLVM::TailCallKind::None,
        LLVM::AsmDialectAttr(), ArrayAttr());
    op.getResult().replaceAllUsesExcept(hidden.getResult(0), hidden);
  }
}

/// Puts constants where arguments stand for them, so that torch-mlir does not
/// compute with them.
static void materializeConstants(func::FuncOp function) {
  llvm::BitVector erased(function.getNumArguments());
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  for (BlockArgument argument : function.getArguments()) {
    auto value = function.getArgAttrOfType<TypedAttr>(argument.getArgNumber(),
                                                      "kernel.constant");
    if (!value)
      continue;
    argument.replaceAllUsesWith(
        arith::ConstantOp::create(builder, argument.getLoc(), value)
            .getResult());
    erased.set(argument.getArgNumber());
  }
  (void)function.eraseArguments(erased);
}

namespace {
/// Views of sizes that are computed, as one dimension that is expanded again:
/// both are free where the elements lie one after the other.
struct ReshapeInSteps : OpRewritePattern<tensor::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto source = dyn_cast<RankedTensorType>(op.getSource().getType());
    auto result = dyn_cast<RankedTensorType>(op.getType());
    auto shape = op.getShape().getDefiningOp<tensor::FromElementsOp>();
    if (!source || !result || !shape || source.getRank() == 0 ||
        result.getRank() == 0)
      return failure();
    Location loc = op.getLoc();
    auto inOne = [](int64_t rank) {
      ReassociationIndices all(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
      return SmallVector<ReassociationIndices>{all};
    };
    Value flat = op.getSource();
    if (source.getRank() > 1)
      flat = tensor::CollapseShapeOp::create(rewriter, loc, flat,
                                             inOne(source.getRank()));
    auto line =
        RankedTensorType::get({result.hasStaticShape() ? result.getNumElements()
                                                       : ShapedType::kDynamic},
                              result.getElementType());
    if (flat.getType() != line)
      flat = tensor::CastOp::create(rewriter, loc, line, flat);
    if (result.getRank() == 1) {
      rewriter.replaceOp(op, flat);
      return success();
    }
    SmallVector<OpFoldResult> sizes;
    for (auto [dim, size] : llvm::enumerate(result.getShape())) {
      if (!ShapedType::isDynamic(size)) {
        sizes.push_back(rewriter.getIndexAttr(size));
        continue;
      }
      Value number = shape.getElements()[dim];
      if (!number.getType().isIndex())
        number = arith::IndexCastOp::create(rewriter, loc,
                                            rewriter.getIndexType(), number);
      sizes.push_back(number);
    }
    rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(
        op, result, flat, inOne(result.getRank()), sizes);
    return success();
  }
};

/// Selects of tensors whose sizes may differ, as branches: as linalg, both
/// would have to have the same.
struct BranchToTensors : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::SelectOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!type || type.hasStaticShape() ||
        isa<TensorType>(op.getCondition().getType()))
      return failure();
    auto yield = [](Value value) {
      return [value](OpBuilder &builder, Location loc) {
        scf::YieldOp::create(builder, loc, value);
      };
    };
    rewriter.replaceOpWithNewOp<scf::IfOp>(op, op.getCondition(),
                                           yield(op.getTrueValue()),
                                           yield(op.getFalseValue()));
    return success();
  }
};
} // namespace

/// Rewrites ops on whole tensors as ops that bufferize and fuse.
static LogicalResult rewriteAsLinalg(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  tensor::populateDecomposeTensorConcatPatterns(patterns);
  linalg::populateDecomposePadPatterns(patterns);
  patterns.add<BranchToTensors>(function.getContext(), /*benefit=*/2);
  patterns.add<ReshapeInSteps>(function.getContext());
  return applyPatternsGreedily(function, std::move(patterns));
}

/// The addition or multiplication of an op that makes a sum or product of
/// floats.
static Operation *findSum(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1)
    return nullptr;
  Block *body = op.getBlock();
  BlockArgument sum = body->getArguments().back();
  Operation *add = body->getTerminator()->getOperand(0).getDefiningOp();
  bool adds = isa_and_nonnull<arith::AddFOp, arith::MulFOp>(add) &&
              sum.hasOneUse() && *sum.user_begin() == add;
  return adds ? add : nullptr;
}

/// Converts the elements of a tensor to another floating-point type.
template <typename CastOp>
static Value castElements(OpBuilder &builder, Location loc, Value tensor,
                          Type element) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, tensor), element);
  AffineMap map = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, empty.getType(), tensor, empty,
             ArrayRef<AffineMap>{map, map}, kinds,
             [&](OpBuilder &inner, Location loc, ValueRange elements) {
               Value wide = CastOp::create(inner, loc, element, elements[0]);
               linalg::YieldOp::create(inner, loc, wide);
             })
      .getResult(0);
}

/// Lets an op add up, or multiply, in double precision: one number after the
/// other, many of single precision would differ from their sum.
static LogicalResult addInDouble(linalg::LinalgOp op) {
  Operation *add = findSum(op);
  Type narrow = add->getResult(0).getType();
  if (!narrow.isF32())
    return success();
  IRRewriter rewriter(op.getContext());
  rewriter.setInsertionPoint(op);
  if (!isa<linalg::GenericOp>(op)) {
    FailureOr<linalg::GenericOp> general = generalizeNamedOp(rewriter, op);
    if (failed(general))
      return failure();
    op = cast<linalg::LinalgOp>(general->getOperation());
    add = findSum(op);
    rewriter.setInsertionPoint(op);
  }
  Location loc = op.getLoc();
  Type wide = rewriter.getF64Type();
  OpOperand *init = op.getDpsInitOperand(0);
  init->set(castElements<arith::ExtFOp>(rewriter, loc, init->get(), wide));
  op->getResult(0).setType(init->get().getType());
  BlockArgument sum = op.getBlock()->getArguments().back();
  sum.setType(wide);
  for (OpOperand &operand : add->getOpOperands()) {
    if (operand.get() == sum)
      continue;
    rewriter.setInsertionPoint(add);
    operand.set(arith::ExtFOp::create(rewriter, loc, wide, operand.get()));
  }
  add->getResult(0).setType(wide);
  rewriter.setInsertionPointAfter(op);
  SmallVector<OpOperand *> uses = llvm::map_to_vector(
      op->getResult(0).getUses(), [](OpOperand &use) { return &use; });
  Value result =
      castElements<arith::TruncFOp>(rewriter, loc, op->getResult(0), narrow);
  for (OpOperand *use : uses)
    use->set(result);
  return success();
}

namespace {
struct FormKernelsPass
    : public ssa_compiler::impl::FormKernelsPassBase<FormKernelsPass> {
  using FormKernelsPassBase::FormKernelsPassBase;

  void runOnOperation() override {
    Builder builder(&getContext());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function.isExternal()) {
        materializeConstants(function);
        if (failed(rewriteAsLinalg(function)))
          return signalPassFailure();
      }
    }
    DataFlowSolver solver;
    if (failed(analyzeRanges(solver, getOperation())))
      return signalPassFailure();
    ranges = &solver;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      manyAdded.clear();
      std::string reason = findReason(function);
      if (!reason.empty()) {
        function->setAttr("kernel.reason", builder.getStringAttr(reason));
        continue;
      }
      for (linalg::LinalgOp op : manyAdded)
        if (failed(addInDouble(op)))
          return signalPassFailure();
      dropElementAsserts(function);
      guardDivisions(function);
      keepProducts(function);
      function->setAttr("kernel.form", builder.getStringAttr("kernel"));
      setRoles(function);
    }
  }

private:
  /// Annotates the arguments that the kernel may write: those whose new
  /// contents are among the results. Bufferization would write into others,
  /// too.
  static void setRoles(func::FuncOp function) {
    Builder builder(function.getContext());
    Operation *yielded = function.getBody().front().getTerminator();
    SmallVector<Value> contents(function.getNumArguments());
    for (unsigned k = 0; k < function.getNumResults(); ++k)
      if (auto written = getWrittenArgument(function, k))
        contents[*written] = yielded->getOperand(k);
    for (BlockArgument argument : function.getArguments()) {
      unsigned k = argument.getArgNumber();
      setRole(function, k, contents[k] ? "written" : "input");
      if (isa<TensorType>(argument.getType()) && !contents[k])
        function.setArgAttr(k, "bufferization.writable",
                            builder.getBoolAttr(false));
    }
    // A result that is an argument has what the argument has in the end.
    for (unsigned k = 0; k < function.getNumResults(); ++k) {
      auto same = function.getResultAttrOfType<IntegerAttr>(k, "tssa.alias_of");
      if (same && contents[same.getInt()])
        yielded->setOperand(k, contents[same.getInt()]);
    }
  }

  /// Why a function cannot be a kernel; empty if it can.
  std::string findReason(func::FuncOp function) {
    if (function.isExternal() || !function.getBody().hasOneBlock())
      return "it has no body of one block";
    for (Type type : function.getArgumentTypes())
      if (!isSupported(type) || type.isIndex())
        return describe("an argument of type ", type);
    for (unsigned k = 0; k < function.getNumResults(); ++k)
      if (function.getResultAttr(k, "tssa.writeback") &&
          !getWrittenArgument(function, k))
        return "new contents of an argument that have another type";
    std::string reason;
    int64_t ops = 0;
    function.walk([&](Operation *op) {
      if (op == function)
        return WalkResult::advance();
      ops += 1;
      reason = findReason(op);
      return reason.empty() ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (reason.empty() && ops > maxOps)
      return std::to_string(ops) + " ops";
    if (reason.empty() && hasStatus(function) &&
        countLaunches(function) < minLaunches)
      return "few launches that it would save";
    return reason;
  }

  /// Whether the host has to read something of a kernel but tensors.
  static bool hasStatus(func::FuncOp function) {
    return function.walk([](cf::AssertOp) { return WalkResult::interrupt(); })
               .wasInterrupted() ||
           !llvm::all_of(function.getResultTypes(), llvm::IsaPred<TensorType>);
  }

  /// How many kernels the backend would launch, at least; in loops, many.
  int64_t countLaunches(func::FuncOp function) {
    int64_t launches = 0;
    function.walk([&](Operation *op) {
      if (isa<LoopLikeOpInterface>(op))
        launches += minLaunches;
      else if (auto linalg = dyn_cast<linalg::LinalgOp>(op))
        launches += computes(linalg);
    });
    return launches;
  }

  static bool computes(linalg::LinalgOp op) {
    return op.getBlock()->getOperations().size() > 1;
  }

  std::string findReason(Operation *op) {
    for (Type type : op->getResultTypes())
      if (!isSupported(type))
        return describe("a value of type ", type);
    Dialect *dialect = op->getDialect();
    if (isa<func::ReturnOp, cf::AssertOp, tensor::EmptyOp, tensor::ExtractOp,
            tensor::InsertOp, tensor::ExtractSliceOp, tensor::InsertSliceOp,
            tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
            tensor::DimOp, tensor::FromElementsOp, tensor::SplatOp>(op))
      return "";
    if (isa<scf::ForOp, scf::WhileOp, scf::IfOp, scf::YieldOp,
            scf::ConditionOp>(op))
      return "";
    if (isa_and_nonnull<math::MathDialect>(dialect))
      return isExactInKernel(op) ? "" : describe("", op->getName());
    if (isa_and_nonnull<arith::ArithDialect>(dialect)) {
      if (isa<arith::RemFOp>(op))
        return describe("", op->getName());
      return "";
    }
    if (isa<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(
            op))
      return "";
    if (auto linalg = dyn_cast<linalg::LinalgOp>(op))
      return findReason(linalg);
    if (isa_and_nonnull<linalg::LinalgDialect>(dialect))
      return isa<linalg::YieldOp, linalg::IndexOp>(op)
                 ? ""
                 : describe("", op->getName());
    return describe("", op->getName());
  }

  std::string findReason(linalg::LinalgOp op) {
    SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    int64_t steps = 1, added = 1;
    for (auto [loop, kind] : llvm::enumerate(kinds)) {
      bool reduces = kind == utils::IteratorType::reduction;
      int64_t size = sizes[loop];
      if (ShapedType::isDynamic(size)) {
        std::optional<int64_t> most = upperBound(op, loop);
        if (!most && reduces && roundsSums(op))
          manyAdded.insert(op);
        size = most.value_or(kAssumedSize);
        if (!reduces)
          size = std::min(size, kAssumedSize);
      }
      steps *= size;
      added *= reduces ? size : 1;
    }
    if (added > 1 && op.getNumDpsInputs() > 1 &&
        steps > std::max<int64_t>(maxProducts, maxReuse * countLargest(op)))
      return std::to_string(steps) + " products in one op";
    if (added > kMostAdded && roundsSums(op))
      manyAdded.insert(op);
    if (manyAdded.contains(op) && !findSum(op))
      return describe("a reduction of many floats by ", op->getName());
    return "";
  }

  /// The elements of the largest operand that an op reads; 0 if it is dynamic,
  /// or read in windows.
  static int64_t countLargest(linalg::LinalgOp op) {
    int64_t most = 0;
    if (!linalg::isaContractionOpInterface(op))
      return most;
    for (OpOperand *operand : op.getDpsInputOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand->get().getType());
      if (type && type.hasStaticShape())
        most = std::max(most, type.getNumElements());
    }
    return most;
  }

  /// Decides what is quicker where nothing bounds a size.
  static constexpr int64_t kAssumedSize = 256;

  /// The most that the ranges of integers allow for the trips of a loop.
  std::optional<int64_t> upperBound(linalg::LinalgOp op, unsigned loop) {
    SmallVector<std::pair<Value, unsigned>> places;
    op.mapIterationSpaceDimToAllOperandDims(loop, places);
    for (auto [tensor, dim] : places) {
      auto size =
          dyn_cast_if_present<Value>(findSizeOrigin(tensor, dim).number);
      const auto *lattice =
          size ? ranges->lookupState<dataflow::IntegerValueRangeLattice>(size)
               : nullptr;
      if (!lattice || lattice->getValue().isUninitialized())
        continue;
      int64_t most = lattice->getValue().getValue().smax().getSExtValue();
      if (most < std::numeric_limits<int32_t>::max())
        return most;
    }
    return std::nullopt;
  }

  /// Added one after the other, more would differ from the sum.
  static constexpr int64_t kMostAdded = 4096;

  /// Whether the order matters in which an op reduces numbers to one.
  static bool roundsSums(linalg::LinalgOp op) {
    return llvm::any_of(op.getBlock()->without_terminator(), [](Operation &op) {
      return isa<FloatType>(op.getResult(0).getType()) &&
             !isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
                  arith::MinNumFOp, arith::SelectOp>(op);
    });
  }

  const DataFlowSolver *ranges = nullptr;

  /// Reductions of more numbers than are added up as they are.
  SetVector<linalg::LinalgOp> manyAdded;

  template <typename T> std::string describe(StringRef text, T what) {
    std::string result = text.str();
    llvm::raw_string_ostream(result) << what;
    return result;
  }
};
} // namespace
