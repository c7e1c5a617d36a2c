//===- Ranges.cpp - the ranges of integers in kernels ---------------------===//

#include "Ranges.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"

using namespace mlir;
using namespace ssa_compiler;

namespace {
/// Knows sizes of the function's arguments from their attributes.
class RangeAnalysis : public dataflow::IntegerRangeAnalysis {
public:
  RangeAnalysis(DataFlowSolver &solver, ArgumentSizes sizes)
      : IntegerRangeAnalysis(solver), sizes(sizes) {}

  LogicalResult visitOperation(
      Operation *op,
      ArrayRef<const dataflow::IntegerValueRangeLattice *> operands,
      ArrayRef<dataflow::IntegerValueRangeLattice *> results) override {
    if (auto dim = dyn_cast<ShapedDimOpInterface>(op)) {
      std::optional<int64_t> number = getConstantIntValue(dim.getDimension());
      std::optional<int64_t> size;
      if (number)
        size = findArgumentSize(dim.getShapedValue(), *number, sizes);
      if (size) {
        unsigned width = IndexType::kInternalStorageBitWidth;
        bool exact = sizes == ArgumentSizes::Example;
        auto range = ConstantIntRanges::fromSigned(
            APInt(width, exact ? *size : 0), APInt(width, *size));
        propagateIfChanged(results[0],
                           results[0]->join(IntegerValueRange(range)));
        return success();
      }
    }
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      auto around = dyn_cast<linalg::LinalgOp>(op->getParentOp());
      int64_t size = around ? around.getStaticLoopRanges()[index.getDim()] : 0;
      if (size > 0) {
        unsigned width = IndexType::kInternalStorageBitWidth;
        auto range = ConstantIntRanges::fromSigned(APInt(width, 0),
                                                   APInt(width, size - 1));
        propagateIfChanged(results[0],
                           results[0]->join(IntegerValueRange(range)));
        return success();
      }
    }
    return IntegerRangeAnalysis::visitOperation(op, operands, results);
  }

private:
  ArgumentSizes sizes;
};
} // namespace

std::optional<int64_t> ssa_compiler::findArgumentSize(Value tensor, int64_t dim,
                                                      ArgumentSizes sizes) {
  auto argument = dyn_cast<BlockArgument>(tensor);
  if (!argument)
    return std::nullopt;
  auto function = dyn_cast_if_present<FunctionOpInterface>(
      argument.getOwner()->getParentOp());
  if (!function || !argument.getOwner()->isEntryBlock())
    return std::nullopt;
  auto known = function.getArgAttrOfType<DenseI64ArrayAttr>(
      argument.getArgNumber(), sizes == ArgumentSizes::Declared
                                   ? "tssa.max_sizes"
                                   : "tssa.example_sizes");
  if (!known || dim < 0 || dim >= known.size() || known[dim] < 0)
    return std::nullopt;
  return known[dim];
}

LogicalResult ssa_compiler::analyzeRanges(DataFlowSolver &solver, Operation *op,
                                          ArgumentSizes sizes) {
  solver.load<dataflow::DeadCodeAnalysis>();
  solver.load<dataflow::SparseConstantPropagation>();
  solver.load<RangeAnalysis>(sizes);
  return solver.initializeAndRun(op);
}

std::optional<int64_t>
ssa_compiler::findUpperBound(const DataFlowSolver &solver, Value value) {
  const auto *lattice =
      solver.lookupState<dataflow::IntegerValueRangeLattice>(value);
  if (!lattice || lattice->getValue().isUninitialized())
    return std::nullopt;
  int64_t most = lattice->getValue().getValue().smax().getSExtValue();
  if (most >= std::numeric_limits<int32_t>::max())
    return std::nullopt;
  return most;
}
