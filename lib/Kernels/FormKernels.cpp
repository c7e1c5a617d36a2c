//===- FormKernels.cpp - which functions can be one kernel ----------------===//

#include "AddInDouble.h"
#include "CLibrary.h"
#include "KernelRewrites.h"
#include "Ranges.h"
#include "ReduceInTiles.h"
#include "Roles.h"
#include "SizeOrigins.h"
#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

#include "llvm/Support/CheckedArithmetic.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_FORMKERNELSPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

/// Whether kernels compute with values of a type.
static bool isSupported(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return !tensor.getEncoding() && isSupported(tensor.getElementType());
  return type.isIndex() || type.isSignlessInteger(1) ||
         type.isSignlessInteger(8) || type.isSignlessInteger(16) ||
         type.isSignlessInteger(32) || type.isSignlessInteger(64) ||
         type.isF32() || type.isF64();
}

/// Whether a function of the math dialect is as exact in a kernel as in the
/// backend's own code, and can be linked there.
static bool isExactInKernel(Operation *op) {
  if (isa<arith::RemFOp>(op))
    return false;
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  if (!isa<FloatType>(type))
    return isa<math::AbsIOp, math::CtPopOp>(op);
  if (isa<math::AbsFOp, math::CopySignOp, math::SqrtOp, math::RsqrtOp,
          math::FloorOp, math::CeilOp, math::RoundEvenOp, math::TruncOp>(op))
    return true;
  // Python's functions are those of the C library, to the last bit.
  if (!isElementwise(op))
    return false;
  return isa<math::ExpOp, math::LogOp>(op) ||
         (type.isF32() && isa<math::TanhOp, math::ErfOp, math::Log1pOp,
                              math::ExpM1Op, math::RoundOp>(op));
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
    DataFlowSolver possible, expected;
    if (failed(analyzeRanges(possible, getOperation())) ||
        failed(analyzeRanges(expected, getOperation(), ArgumentSizes::Example)))
      return signalPassFailure();
    possibleRanges = &possible;
    expectedRanges = &expected;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.getName() == kNote)
        continue;
      manyAdded.clear();
      executions = executedSteps = 0;
      mostSteps = 0;
      std::string reason = findReason(function);
      bool together =
          workgroups > 1 && executedSteps > kStepsOfBarrier * executions;
      if (reason.empty() && workgroups != 0 && mostSteps > countMost(together))
        reason = describeMost();
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
      function.walk([](Operation *op) {
        if (isMath(op) && !isExactInKernel(op))
          callCFunction(op);
      });
      listCFunctions(function);
      function->setAttr("kernel.form", builder.getStringAttr("kernel"));
      setRoles(function);
      if (together)
        function->setAttr(kWorkgroups, builder.getI64IntegerAttr(workgroups));
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
    if (auto call = dyn_cast<func::CallOp>(op); call && isNote(call))
      return workgroups == 0 ? "" : "an exception that says numbers of the run";
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && workgroups != 0)
      if (int64_t steps = countInOrder(loop); steps > kMostInOrder)
        return std::to_string(steps) + " steps that one thread would take";
    if (isa<scf::ForOp, scf::WhileOp, scf::IfOp, scf::YieldOp,
            scf::ConditionOp>(op))
      return "";
    if (isMath(op))
      return isExactInKernel(op) || (cLibrary && !findCFunction(op).empty())
                 ? ""
                 : describe("", op->getName());
    if (isa_and_nonnull<arith::ArithDialect>(dialect))
      return "";
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

  static bool isMath(Operation *op) {
    return isa<arith::RemFOp>(op) ||
           isa_and_nonnull<math::MathDialect>(op->getDialect());
  }

  /// More calls of the C library take longer than the vectors in which PyTorch
  /// and the backend's own code compute.
  static constexpr int64_t kMostCalls = 4096;

  static bool callsCFunction(linalg::LinalgOp op) {
    return llvm::any_of(*op.getBlock(), [](Operation &inner) {
      return isMath(&inner) && !isExactInKernel(&inner);
    });
  }

  std::string findReason(linalg::LinalgOp op) {
    SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    int64_t steps = 1, added = 1;
    for (auto [loop, kind] : llvm::enumerate(kinds)) {
      bool reduces = kind == utils::IteratorType::reduction;
      int64_t size = sizes[loop], most = size;
      if (ShapedType::isDynamic(size)) {
        std::optional<int64_t> bound =
            findTrips(op, loop, *possibleRanges, ArgumentSizes::Declared);
        if (!bound && reduces && roundsSums(op))
          manyAdded.insert(op);
        most = bound.value_or(kAssumedSize);
        size = findTrips(op, loop, *expectedRanges, ArgumentSizes::Example)
                   .value_or(reduces ? most : std::min(most, kAssumedSize));
      }
      steps *= size;
      // What is added, and how, must not depend on the example.
      added *= reduces ? most : 1;
    }
    bool multiplies = workgroups == 0 || linalg::isaContractionOpInterface(op);
    if (multiplies && added > 1 && op.getNumDpsInputs() > 1 &&
        steps > countMostProducts(op))
      return std::to_string(steps) + " products in one op";
    if (steps > kMostCalls && callsCFunction(op))
      return std::to_string(steps) + " calls of the C library in one op";
    double times = countExecutions(op);
    executions += times;
    executedSteps += times * steps;
    mostSteps = std::max(mostSteps, steps);
    if (workgroups != 0 && steps > kMostInWorkgroups)
      return describeMost();
    if (added > kMostAdded && roundsSums(op))
      manyAdded.insert(op);
    if (manyAdded.contains(op) && !findSum(op))
      return describe("a reduction of many floats by ", op->getName());
    return "";
  }

  /// How many products a kernel computes in no more time than the backend's own
  /// code.
  int64_t countMostProducts(linalg::LinalgOp op) {
    if (workgroups == 0 && canReduceInTiles(op) &&
        llvm::all_of(op.getDpsInputs(), fitsCache))
      return maxTiledProducts;
    if (workgroups == 0 && !linalg::isaContractionOpInterface(op))
      return std::max(maxProducts, maxWindowProducts);
    return std::max<int64_t>(maxProducts, maxReuse * countLargest(op));
  }

  static bool fitsCache(Value operand) {
    constexpr int64_t kMostElements = 1 << 18;
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    return !type || !type.hasStaticShape() ||
           type.getNumElements() <= kMostElements;
  }

  /// The trips of a loop and of those in it, if the first thread of a GPU runs
  /// them one after the other; 0 if something in it is distributed over
  /// threads.
  int64_t countInOrder(scf::ForOp loop) {
    bool isDistributed =
        loop->walk([](linalg::LinalgOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    return isDistributed ? 0 : countSteps(loop);
  }

  int64_t countSteps(Operation *op) {
    int64_t steps = 1;
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        if (inner.getNumRegions() != 0)
          steps = llvm::checkedAdd(steps, countSteps(&inner))
                      .value_or(kMostInOrder + 1);
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      return steps;
    int64_t trips = findUpperBound(*expectedRanges, loop.getUpperBound())
                        .value_or(kAssumedSize);
    return llvm::checkedMul(steps, trips).value_or(kMostInOrder + 1);
  }

  /// Steps that one thread, or one workgroup, takes in less time than a few
  /// kernels take to launch.
  static constexpr int64_t kMostInOrder = 1 << 16, kMostInWorkgroup = 1 << 18,
                           kMostInWorkgroups = 1 << 24;

  /// Steps that one workgroup takes while many wait for each other once.
  static constexpr double kStepsOfBarrier = 4096;

  /// How often linalg ops are executed, the steps of all that, and of the op
  /// that takes most of them.
  double executions = 0, executedSteps = 0;
  int64_t mostSteps = 0;

  /// The most steps of an op. One workgroup may take the time that launches of
  /// all other ops would take.
  double countMost(bool together) const {
    if (together)
      return kMostInWorkgroups;
    return std::max<double>(kMostInWorkgroup, kStepsOfBarrier * executions);
  }

  std::string describeMost() const {
    return std::to_string(mostSteps) + " steps in one op, for all of a GPU";
  }

  /// How often an op is executed, as far as that can be told.
  double countExecutions(Operation *op) {
    constexpr double kAssumedTrips = 100;
    double times = 1;
    while ((op = op->getParentOp()) && !isa<func::FuncOp>(op)) {
      std::optional<int64_t> trips;
      if (auto loop = dyn_cast<scf::ForOp>(op))
        trips = findUpperBound(*expectedRanges, loop.getUpperBound());
      if (isa<LoopLikeOpInterface>(op))
        times *= trips ? std::max<double>(*trips, 0) : kAssumedTrips;
    }
    return times;
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

  /// Decides what is quicker where neither the example nor a bound tells.
  static constexpr int64_t kAssumedSize = 256;

  /// The most trips of a loop, where something bounds them.
  static std::optional<int64_t> findTrips(linalg::LinalgOp op, unsigned loop,
                                          const DataFlowSolver &ranges,
                                          ArgumentSizes sizes) {
    SmallVector<std::pair<Value, unsigned>> places;
    op.mapIterationSpaceDimToAllOperandDims(loop, places);
    for (auto [tensor, dim] : places) {
      SizeOrigin origin = findSizeOrigin(tensor, dim);
      std::optional<int64_t> most;
      if (auto number = dyn_cast_if_present<Value>(origin.number))
        most = findUpperBound(ranges, number);
      else if (origin.number)
        most = getConstantIntValue(origin.number);
      else if (origin.tensor)
        most = findArgumentSize(origin.tensor, origin.dim, sizes);
      if (most)
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

  /// What integers can be, and what they are with sizes as in the example.
  const DataFlowSolver *possibleRanges = nullptr;
  const DataFlowSolver *expectedRanges = nullptr;

  /// Reductions of more numbers than are added up as they are.
  SetVector<linalg::LinalgOp> manyAdded;

  template <typename T> std::string describe(StringRef text, T what) {
    std::string result = text.str();
    llvm::raw_string_ostream(result) << what;
    return result;
  }
};
} // namespace
