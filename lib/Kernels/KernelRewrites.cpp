//===- KernelRewrites.cpp - rewrites that make kernels possible -----------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "KernelRewrites.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace ssa_compiler;

bool ssa_compiler::isElementwise(Operation *op) {
  return isa_and_nonnull<linalg::LinalgOp>(op->getParentOp());
}

void ssa_compiler::guardDivisions(func::FuncOp function) {
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

void ssa_compiler::dropElementAsserts(func::FuncOp function) {
  SmallVector<cf::AssertOp> assertions;
  function.walk([&](cf::AssertOp op) {
    if (isElementwise(op))
      assertions.push_back(op);
  });
  for (cf::AssertOp op : assertions)
    op.erase();
}

void ssa_compiler::keepProducts(func::FuncOp function) {
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

void ssa_compiler::materializeConstants(func::FuncOp function) {
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

LogicalResult ssa_compiler::rewriteAsLinalg(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  tensor::populateDecomposeTensorConcatPatterns(patterns);
  linalg::populateDecomposePadPatterns(patterns);
  patterns.add<BranchToTensors>(function.getContext(), /*benefit=*/2);
  patterns.add<ReshapeInSteps>(function.getContext());
  return applyPatternsGreedily(function, std::move(patterns));
}
