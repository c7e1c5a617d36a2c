//===- FormKernels.cpp - which functions can be one kernel ----------------===//

#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_FORMKERNELSPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;

/// Whether kernels compute with values of a type.
static bool isSupported(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.hasStaticShape() && !tensor.getEncoding() &&
           tensor.getNumElements() > 0 && isSupported(tensor.getElementType());
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

/// Whether a division might end the process: what divides is not known, or
/// might be -1.
static bool mayTrap(Operation *op) {
  if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
           arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
    return false;
  APInt divisor;
  return !matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) ||
         divisor.isZero() || divisor.isAllOnes();
}

/// Erases assertions about elements: torch-mlir puts one into the reciprocal,
/// which refuses 0. The checks of the program stand in front of its ops.
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

namespace {
struct FormKernelsPass
    : public ssa_compiler::impl::FormKernelsPassBase<FormKernelsPass> {
  using FormKernelsPassBase::FormKernelsPassBase;

  void runOnOperation() override {
    Builder builder(&getContext());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      std::string reason = findReason(function);
      if (!reason.empty()) {
        function->setAttr("kernel.reason", builder.getStringAttr(reason));
        continue;
      }
      dropElementAsserts(function);
      keepProducts(function);
      function->setAttr("kernel.form", builder.getStringAttr("kernel"));
      for (unsigned k = 0; k < function.getNumArguments(); ++k) {
        function.setArgAttr(k, "kernel.role", builder.getStringAttr("input"));
        // Bufferization would write into the caller's tensors.
        if (isa<TensorType>(function.getArgument(k).getType()))
          function.setArgAttr(k, "bufferization.writable",
                              builder.getBoolAttr(false));
      }
    }
  }

private:
  /// Why a function cannot be a kernel; empty if it can.
  std::string findReason(func::FuncOp function) {
    if (function.isExternal() || !function.getBody().hasOneBlock())
      return "it has no body of one block";
    for (Type type : function.getArgumentTypes())
      if (!isSupported(type) || type.isIndex())
        return describe("an argument of type ", type);
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
    return reason;
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
      if (mayTrap(op))
        return "a division by a number that is not known";
      if (isa<arith::RemFOp>(op))
        return describe("", op->getName());
      return "";
    }
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
    for (auto [size, kind] : llvm::zip(sizes, kinds)) {
      if (ShapedType::isDynamic(size))
        return "a dynamic size";
      steps *= size;
      added *= kind == utils::IteratorType::reduction ? size : 1;
    }
    if (added > 1 && op.getNumDpsInputs() > 1 && steps > maxProducts)
      return std::to_string(steps) + " products in one op";
    if (steps > maxElements)
      return std::to_string(steps) + " elements in one op";
    if (added > kMostAdded)
      return std::to_string(added) + " numbers that are reduced to one";
    return "";
  }

  /// Added one after the other, more would differ from the sum.
  static constexpr int64_t kMostAdded = 4096;

  template <typename T> std::string describe(StringRef text, T what) {
    std::string result = text.str();
    llvm::raw_string_ostream(result) << what;
    return result;
  }
};
} // namespace
