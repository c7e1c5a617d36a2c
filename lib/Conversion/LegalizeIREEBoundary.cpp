//===- LegalizeIREEBoundary.cpp - builtin tensors at boundaries -----------===//
//
// Types of function arguments and results and of values that cross an scf
// region.
//
//===----------------------------------------------------------------------===//

#include "TensorTypes.h"

#include "ssa-compiler/Conversion/Passes.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"
#include "ssa-compiler/Dialect/TorchConversion/IR/TorchConversionDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_LEGALIZEIREEBOUNDARYPASS
#include "ssa-compiler/Conversion/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

namespace {

/// `arith.select` of tensors: what canonicalization makes of a small `scf.if`.
struct ConvertSelect final : OpConversionPattern<arith::SelectOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::SelectOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, adaptor.getCondition(),
                                                 adaptor.getTrueValue(),
                                                 adaptor.getFalseValue());
    return success();
  }
};

struct LegalizeIREEBoundary final
    : ssa_compiler::impl::LegalizeIREEBoundaryPassBase<LegalizeIREEBoundary> {
  using Base::Base;

  void runOnOperation() override {
    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion(
        [](torch::ValueTensorType type) { return convertTensorType(type); });
    converter.addSourceMaterialization([](OpBuilder &builder, Type type,
                                          ValueRange inputs, Location loc) {
      return torch_c::FromBuiltinTensorOp::create(builder, loc, type, inputs[0])
          .getResult();
    });
    converter.addTargetMaterialization([](OpBuilder &builder, Type type,
                                          ValueRange inputs, Location loc) {
      return torch_c::ToBuiltinTensorOp::create(builder, loc, type, inputs[0])
          .getResult();
    });

    RewritePatternSet patterns(&getContext());
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                   converter);
    populateReturnOpTypeConversionPattern(patterns, converter);
    target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp op) {
      return converter.isSignatureLegal(op.getFunctionType());
    });
    target.addDynamicallyLegalOp<func::ReturnOp>(
        [&](func::ReturnOp op) { return converter.isLegal(op); });
    patterns.add<ConvertSelect>(converter, &getContext());
    target.addDynamicallyLegalOp<arith::SelectOp>(
        [&](arith::SelectOp op) { return converter.isLegal(op.getType()); });
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
