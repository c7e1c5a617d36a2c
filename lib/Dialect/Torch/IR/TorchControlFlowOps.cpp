// Control flow of the torch dialect's region ops: who branches where, and with
// which values.

#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ssa_compiler::torch;

/// The value of a `torch.constant.bool`, or nullopt.
static std::optional<bool> getConstantBool(Value value) {
  if (auto constant = value.getDefiningOp<ConstantBoolOp>())
    return constant.getValue();
  return std::nullopt;
}

/// Checks that a region ends in an op of type TerminatorOp.
template <typename TerminatorOp>
static LogicalResult verifyTerminator(Operation *op, Region &region) {
  Block &block = region.front();
  if (block.empty() || !isa<TerminatorOp>(block.back()))
    return op->emitOpError()
           << "expected region #" << region.getRegionNumber() << " to end in '"
           << TerminatorOp::getOperationName() << "'";
  return success();
}

static LogicalResult verifyNoArguments(Operation *op, Region &region) {
  if (region.getNumArguments() == 0)
    return success();
  return op->emitOpError() << "expected region #" << region.getRegionNumber()
                           << " to have no arguments";
}

static LogicalResult verifySameTypes(Operation *op, TypeRange types,
                                     TypeRange expected, StringRef what) {
  if (types == expected)
    return success();
  return op->emitOpError() << "expected " << what << " of types (" << expected
                           << "), got (" << types << ")";
}

//===----------------------------------------------------------------------===//
// PrimIfOp
//===----------------------------------------------------------------------===//

ParseResult PrimIfOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::UnresolvedOperand condition;
  Region *thenRegion = state.addRegion();
  Region *elseRegion = state.addRegion();
  if (parser.parseOperand(condition) ||
      parser.resolveOperand(condition, BoolType::get(parser.getContext()),
                            state.operands) ||
      parser.parseArrowTypeList(state.types) ||
      parser.parseRegion(*thenRegion) || parser.parseKeyword("else") ||
      parser.parseRegion(*elseRegion) ||
      parser.parseOptionalAttrDict(state.attributes))
    return failure();
  return success();
}

void PrimIfOp::print(OpAsmPrinter &printer) {
  printer << " " << getCondition() << " -> (" << getResultTypes() << ") ";
  printer.printRegion(getThenRegion(), /*printEntryBlockArgs=*/false);
  printer << " else ";
  printer.printRegion(getElseRegion(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs());
}

LogicalResult PrimIfOp::verifyRegions() {
  for (Region *region : {&getThenRegion(), &getElseRegion()}) {
    if (failed(verifyNoArguments(*this, *region)) ||
        failed(verifyTerminator<PrimIfYieldOp>(*this, *region)))
      return failure();
    TypeRange types = region->front().back().getOperandTypes();
    if (failed(
            verifySameTypes(*this, types, getResultTypes(), "yielded values")))
      return failure();
  }
  return success();
}

void PrimIfOp::getSuccessorRegions(RegionBranchPoint point,
                                   SmallVectorImpl<RegionSuccessor> &regions) {
  if (!point.isParent()) {
    regions.emplace_back(getOperation(), getResults());
    return;
  }
  std::optional<bool> condition = getConstantBool(getCondition());
  if (condition.value_or(true))
    regions.emplace_back(&getThenRegion());
  if (!condition.value_or(false))
    regions.emplace_back(&getElseRegion());
}

//===----------------------------------------------------------------------===//
// PrimLoopOp
//===----------------------------------------------------------------------===//

PrimLoopConditionOp PrimLoopOp::getConditionOp() {
  return cast<PrimLoopConditionOp>(getRegion().front().back());
}

bool PrimLoopOp::isForLike() {
  return getConstantBool(getInitialCondition()).value_or(false) &&
         getConstantBool(getConditionOp().getShouldContinue()).value_or(false);
}

LogicalResult PrimLoopOp::verifyRegions() {
  Region &region = getRegion();
  if (region.getNumArguments() == 0 ||
      !isa<IntType>(region.getArgument(0).getType()))
    return emitOpError("expected the first argument of the body to be the "
                       "iteration number, a !torch.int");
  if (failed(verifyTerminator<PrimLoopConditionOp>(*this, region)))
    return failure();
  TypeRange carried = TypeRange(region.getArgumentTypes()).drop_front();
  if (failed(verifySameTypes(*this, getIterArgsInit().getTypes(), carried,
                             "initial values")) ||
      failed(verifySameTypes(*this, getConditionOp().getIterArgs().getTypes(),
                             carried, "carried values")))
    return failure();
  return verifySameTypes(*this, getResultTypes(), carried, "results");
}

OperandRange PrimLoopOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getIterArgsInit();
}

void PrimLoopOp::getSuccessorRegions(
    RegionBranchPoint, SmallVectorImpl<RegionSuccessor> &regions) {
  // Invalid IR is asked as well, before the verifier of the region has seen it.
  Region &region = getRegion();
  auto carried = region.getArguments();
  regions.emplace_back(&region,
                       carried.empty() ? carried : carried.drop_front());
  regions.emplace_back(getOperation(), getResults());
}

MutableOperandRange
PrimLoopConditionOp::getMutableSuccessorOperands(RegionSuccessor) {
  return getIterArgsMutable();
}

//===----------------------------------------------------------------------===//
// Shape and dtype calculations
//===----------------------------------------------------------------------===//

/// From outside to the calculation, from there to the body, from there out with
/// the results.
template <typename YieldFactsOp, typename CalculateOp>
static void getCalculateSuccessors(CalculateOp op, RegionBranchPoint point,
                                   SmallVectorImpl<RegionSuccessor> &regions) {
  if (point.isParent())
    regions.emplace_back(&op.getCalculation());
  else if (isa<YieldFactsOp>(point.getTerminatorPredecessorOrNull()))
    regions.emplace_back(&op.getBody());
  else
    regions.emplace_back(op.getOperation(), op.getResults());
}

template <typename YieldOp, typename YieldFactsOp, typename CalculateOp>
static LogicalResult verifyCalculateRegions(CalculateOp op) {
  if (failed(verifyNoArguments(op, op.getBody())) ||
      failed(verifyNoArguments(op, op.getCalculation())) ||
      failed(verifyTerminator<YieldOp>(op, op.getBody())) ||
      failed(verifyTerminator<YieldFactsOp>(op, op.getCalculation())))
    return failure();
  Operation &facts = op.getCalculation().front().back();
  if (facts.getNumOperands() != op->getNumResults())
    return op.emitOpError()
           << "expected " << op->getNumResults() << " calculated values, got "
           << facts.getNumOperands();
  return verifySameTypes(op, op.getBody().front().back().getOperandTypes(),
                         op.getResultTypes(), "yielded values");
}

LogicalResult ShapeCalculateOp::verifyRegions() {
  return verifyCalculateRegions<ShapeCalculateYieldOp,
                                ShapeCalculateYieldShapesOp>(*this);
}
void ShapeCalculateOp::getSuccessorRegions(
    RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &regions) {
  getCalculateSuccessors<ShapeCalculateYieldShapesOp>(*this, point, regions);
}
LogicalResult DtypeCalculateOp::verifyRegions() {
  return verifyCalculateRegions<DtypeCalculateYieldOp,
                                DtypeCalculateYieldDtypesOp>(*this);
}
void DtypeCalculateOp::getSuccessorRegions(
    RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &regions) {
  getCalculateSuccessors<DtypeCalculateYieldDtypesOp>(*this, point, regions);
}

// What the calculation yields is for the reader: the body takes no arguments.
MutableOperandRange
ShapeCalculateYieldShapesOp::getMutableSuccessorOperands(RegionSuccessor) {
  return MutableOperandRange(*this, /*start=*/0, /*length=*/0);
}
MutableOperandRange
DtypeCalculateYieldDtypesOp::getMutableSuccessorOperands(RegionSuccessor) {
  return MutableOperandRange(*this, /*start=*/0, /*length=*/0);
}
