//===- TorchToSCF.cpp - TorchScript control flow to scf -------------------===//
//
// Rewrites each torch.prim.If and torch.prim.Loop, each op on scalars, and the
// function boundary, with casts between torch and builtin scalars around them;
// then folds the casts away where they meet.
//
//===----------------------------------------------------------------------===//

#include "TorchScalarsToArith.h"

#include "ssa-compiler/Conversion/Passes.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"
#include "ssa-compiler/Dialect/TorchConversion/IR/TorchConversionDialect.h"
#include "ssa-compiler/Support/SourceLocation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_TORCHTOSCFPASS
#include "ssa-compiler/Conversion/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

namespace {

SmallVector<Value> toBuiltin(OpBuilder &builder, Location loc,
                             ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) {
    return toBuiltinScalar(builder, loc, value);
  });
}

SmallVector<Value> toTorch(OpBuilder &builder, Location loc, ValueRange values,
                           TypeRange types) {
  SmallVector<Value> result;
  for (auto [value, type] : llvm::zip_equal(values, types))
    result.push_back(toTorchScalar(builder, loc, value, type));
  return result;
}

SmallVector<Type> getBuiltinTypes(TypeRange types) {
  return llvm::map_to_vector(types, getBuiltinScalarType);
}

bool isConstantTrue(Value value) {
  IntegerAttr attr;
  if (auto fromI1 = value.getDefiningOp<torch_c::FromI1Op>())
    value = fromI1.getOperand();
  return matchPattern(value, m_Constant(&attr)) && attr.getValue().isOne();
}

/// Moves the ops of `source` except the terminator to the end of `target`, with
/// its arguments replaced.
void moveBody(RewriterBase &rewriter, Block *source, Block *target,
              ValueRange arguments) {
  rewriter.inlineBlockBefore(source, target, target->end(), arguments);
}

void convertIf(RewriterBase &rewriter, torch::PrimIfOp op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto ifOp = scf::IfOp::create(
      rewriter, loc, getBuiltinTypes(op->getResultTypes()),
      toBuiltinScalar(rewriter, loc, op.getCondition()), /*withElse=*/true);
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), ifOp->getRegions())) {
    Block *target = &to.front();
    if (!target->empty())
      rewriter.eraseOp(target->getTerminator());
    Operation *yield = from.front().getTerminator();
    moveBody(rewriter, &from.front(), target, {});
    rewriter.setInsertionPoint(yield);
    rewriter.replaceOpWithNewOp<scf::YieldOp>(
        yield, toBuiltin(rewriter, yield->getLoc(), yield->getOperands()));
  }
  rewriter.setInsertionPointAfter(ifOp);
  rewriter.replaceOp(
      op, toTorch(rewriter, loc, ifOp.getResults(), op->getResultTypes()));
}

/// A loop that runs its trip count: both conditions are constant true.
void convertForLoop(RewriterBase &rewriter, torch::PrimLoopOp op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  Value count = toBuiltinScalar(rewriter, loc, op.getMaxTripCount());
  Value upper =
      arith::IndexCastOp::create(rewriter, loc, rewriter.getIndexType(), count);
  auto forOp =
      scf::ForOp::create(rewriter, loc, zero, upper, one,
                         toBuiltin(rewriter, loc, op.getIterArgsInit()));
  Block *body = forOp.getBody();
  if (!body->empty())
    rewriter.eraseOp(body->getTerminator());
  rewriter.setInsertionPointToEnd(body);
  Value index = arith::IndexCastOp::create(rewriter, loc, rewriter.getI64Type(),
                                           forOp.getInductionVar());
  SmallVector<Value> arguments{toTorchScalar(
      rewriter, loc, index, torch::IntType::get(op.getContext()))};
  llvm::append_range(arguments,
                     toTorch(rewriter, loc, forOp.getRegionIterArgs(),
                             op.getIterArgsInit().getTypes()));
  Operation *condition = op.getRegion().front().getTerminator();
  moveBody(rewriter, &op.getRegion().front(), body, arguments);
  rewriter.setInsertionPoint(condition);
  rewriter.replaceOpWithNewOp<scf::YieldOp>(
      condition, toBuiltin(rewriter, condition->getLoc(),
                           condition->getOperands().drop_front()));
  rewriter.setInsertionPointAfter(forOp);
  rewriter.replaceOp(
      op, toTorch(rewriter, loc, forOp.getResults(), op->getResultTypes()));
}

/// Any other loop. The carried values of the `scf.while` are the loop's, the
/// iteration number, and whether to go on.
void convertWhileLoop(RewriterBase &rewriter, torch::PrimLoopOp op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Value count = toBuiltinScalar(rewriter, loc, op.getMaxTripCount());
  Value zero = arith::ConstantIntOp::create(rewriter, loc, 0, 64);
  SmallVector<Value> inits = toBuiltin(rewriter, loc, op.getIterArgsInit());
  size_t numCarried = inits.size();
  inits.push_back(zero);
  SmallVector<Type> results = llvm::to_vector(ValueRange(inits).getTypes());
  inits.push_back(toBuiltinScalar(rewriter, loc, op.getInitialCondition()));

  auto before = [&](OpBuilder &builder, Location loc, ValueRange arguments) {
    Value inRange = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, arguments[numCarried], count);
    Value goOn = arith::AndIOp::create(builder, loc, inRange, arguments.back());
    scf::ConditionOp::create(builder, loc, goOn, arguments.drop_back());
  };
  Operation *condition = op.getRegion().front().getTerminator();
  auto after = [&](OpBuilder &builder, Location loc, ValueRange arguments) {
    SmallVector<Value> torchArguments{
        toTorchScalar(builder, loc, arguments[numCarried],
                      torch::IntType::get(op.getContext()))};
    llvm::append_range(torchArguments,
                       toTorch(builder, loc, arguments.take_front(numCarried),
                               op.getIterArgsInit().getTypes()));
    moveBody(rewriter, &op.getRegion().front(), builder.getInsertionBlock(),
             torchArguments);
    rewriter.setInsertionPoint(condition);
    Location endLoc = condition->getLoc();
    SmallVector<Value> next =
        toBuiltin(rewriter, endLoc, condition->getOperands().drop_front());
    Value one = arith::ConstantIntOp::create(rewriter, endLoc, 1, 64);
    next.push_back(
        arith::AddIOp::create(rewriter, endLoc, arguments[numCarried], one));
    next.push_back(toBuiltinScalar(rewriter, endLoc, condition->getOperand(0)));
    rewriter.replaceOpWithNewOp<scf::YieldOp>(condition, next);
  };
  auto whileOp =
      scf::WhileOp::create(rewriter, loc, results, inits, before, after);
  rewriter.setInsertionPointAfter(whileOp);
  rewriter.replaceOp(op, toTorch(rewriter, loc,
                                 whileOp.getResults().take_front(numCarried),
                                 op->getResultTypes()));
}

void convertAssert(RewriterBase &rewriter, torch::RuntimeAssertOp op) {
  rewriter.setInsertionPoint(op);
  Value condition = toBuiltinScalar(rewriter, op.getLoc(), op.getCondition());
  rewriter.replaceOpWithNewOp<cf::AssertOp>(
      op, condition, withSourceLine(op.getMessage(), op.getLoc()));
}

/// Gives the function builtin scalars as arguments and results.
void convertBoundary(RewriterBase &rewriter, func::FuncOp function) {
  if (function.isExternal())
    return;
  Block &entry = function.getBody().front();
  rewriter.setInsertionPointToStart(&entry);
  for (BlockArgument argument : entry.getArguments()) {
    Type type = argument.getType();
    if (!isTorchScalarType(type))
      continue;
    argument.setType(getBuiltinScalarType(type));
    Value cast = toTorchScalar(rewriter, argument.getLoc(), argument, type);
    rewriter.replaceAllUsesExcept(argument, cast, cast.getDefiningOp());
  }
  SmallVector<Type> results =
      getBuiltinTypes(function.getFunctionType().getResults());
  function.walk([&](func::ReturnOp op) {
    rewriter.setInsertionPoint(op);
    op->setOperands(toBuiltin(rewriter, op.getLoc(), op->getOperands()));
  });
  function.setType(rewriter.getFunctionType(entry.getArgumentTypes(), results));
}

/// Calls of functions whose boundary is converted. Declarations keep theirs.
void convertCall(RewriterBase &rewriter, func::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  if (!callee || callee.isExternal())
    return;
  rewriter.setInsertionPoint(call);
  auto converted = func::CallOp::create(
      rewriter, call.getLoc(), call.getCallee(),
      getBuiltinTypes(call.getResultTypes()),
      toBuiltin(rewriter, call.getLoc(), call.getOperands()));
  converted->setDiscardableAttrs(call->getDiscardableAttrDictionary());
  rewriter.replaceOp(call,
                     toTorch(rewriter, call.getLoc(), converted.getResults(),
                             call.getResultTypes()));
}

/// A reference to a function of another type than it will have.
LogicalResult verifyReference(func::ConstantOp op) {
  auto type = dyn_cast<FunctionType>(op.getType());
  if (!type || (llvm::none_of(type.getInputs(), isTorchScalarType) &&
                llvm::none_of(type.getResults(), isTorchScalarType)))
    return success();
  return op.emitError() << "unsupported: a reference to '" << op.getValue()
                        << "', which takes or returns scalars; call it";
}

struct TorchToSCF final : ssa_compiler::impl::TorchToSCFPassBase<TorchToSCF> {
  using Base::Base;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) { ops.push_back(op); });
    // Post-order: inner ops first, so that a converted body is moved whole.
    for (Operation *op : ops) {
      if (auto ifOp = dyn_cast<torch::PrimIfOp>(op)) {
        convertIf(rewriter, ifOp);
      } else if (auto loop = dyn_cast<torch::PrimLoopOp>(op)) {
        Operation *condition = loop.getRegion().front().getTerminator();
        if (isConstantTrue(loop.getInitialCondition()) &&
            isConstantTrue(condition->getOperand(0)))
          convertForLoop(rewriter, loop);
        else
          convertWhileLoop(rewriter, loop);
      } else if (auto assertOp = dyn_cast<torch::RuntimeAssertOp>(op)) {
        convertAssert(rewriter, assertOp);
      } else if (auto function = dyn_cast<func::FuncOp>(op)) {
        convertBoundary(rewriter, function);
      } else if (auto call = dyn_cast<func::CallOp>(op)) {
        convertCall(rewriter, call);
      } else if (auto reference = dyn_cast<func::ConstantOp>(op)) {
        if (failed(verifyReference(reference)))
          return signalPassFailure();
      } else {
        (void)convertScalarOp(rewriter, op);
      }
    }

    // Folds casts that meet, and turns casts of constants into constants. scf's
    // own patterns stay out: they turn a branch that yields one of two tensors
    // into a select before the branch, where it is taken earlier than the
    // writes in the branch.
    RewritePatternSet patterns(&getContext());
    for (RegisteredOperationName name : getContext().getRegisteredOperations())
      if (isa<torch_c::TorchConversionDialect, arith::ArithDialect>(
              name.getDialect()))
        name.getCanonicalizationPatterns(patterns, &getContext());
    // Not all may be simplified in as many iterations as the driver has.
    (void)applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};

} // namespace
