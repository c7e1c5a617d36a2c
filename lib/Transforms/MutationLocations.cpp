//===- MutationLocations.cpp - numbers and names of mutations -------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "MutationLocations.h"

#include "ssa-compiler/Dialect/Torch/IR/TorchBuilders.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOpInterfaces.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace ssa_compiler;
using namespace ssa_compiler::torch;

static constexpr StringLiteral kNumber = "tssa.mutation";

//===----------------------------------------------------------------------===//
// Locations
//===----------------------------------------------------------------------===//

SmallVector<size_t> ssa_compiler::getNumbers(Location loc) {
  SmallVector<size_t> numbers;
  loc->walk([&](Location part) {
    if (auto fused = dyn_cast<FusedLoc>(part))
      if (auto data = dyn_cast_or_null<DictionaryAttr>(fused.getMetadata()))
        if (auto number = data.getAs<IntegerAttr>(kNumber))
          numbers.push_back(number.getInt());
    return WalkResult::advance();
  });
  return numbers;
}

Location ssa_compiler::addNumber(Location loc, size_t number) {
  Builder builder(loc.getContext());
  NamedAttribute entry =
      builder.getNamedAttr(kNumber, builder.getI64IntegerAttr(number));
  return FusedLoc::get({loc}, builder.getDictionaryAttr(entry),
                       loc.getContext());
}

Location ssa_compiler::removeNumbers(Location loc) {
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    SmallVector<Location> parts;
    for (Location part : fused.getLocations())
      parts.push_back(removeNumbers(part));
    auto data = dyn_cast_or_null<DictionaryAttr>(fused.getMetadata());
    bool numbered = data && data.contains(kNumber);
    return FusedLoc::get(parts, numbered ? Attribute() : fused.getMetadata(),
                         loc.getContext());
  }
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return CallSiteLoc::get(removeNumbers(call.getCallee()),
                            removeNumbers(call.getCaller()));
  return loc;
}

static std::string toString(FileLineColLoc line) {
  return line.getFilename().str() + ":" + std::to_string(line.getLine());
}

std::string ssa_compiler::getLine(Location loc) {
  std::optional<FileLineColLoc> line = getUserLine(loc);
  return line ? toString(*line) : "";
}

void ssa_compiler::collectLines(Location loc, std::vector<std::string> &lines) {
  if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    collectLines(call.getCaller(), lines);
    collectLines(call.getCallee(), lines);
  } else if (std::optional<FileLineColLoc> line = getUserLine(loc)) {
    lines.push_back(toString(*line));
  }
}

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

std::string ssa_compiler::getKind(Operation *regionOp) {
  return isa<LoopLikeOpInterface>(regionOp) ? "loop" : "branch";
}

StringRef ssa_compiler::getShortName(Operation *op) {
  auto schemaOp = dyn_cast<TorchSchemaOpInterface>(op);
  StringRef name =
      schemaOp ? schemaOp.getTorchName() : op->getName().getStringRef();
  name.consume_front("torch.");
  return name;
}

std::string ssa_compiler::withLine(std::string text, Location loc) {
  std::string line = getLine(loc);
  return line.empty() ? text : text + " (" + line + ")";
}

std::string ssa_compiler::describeRoot(func::FuncOp function, Value root) {
  if (Operation *op = root.getDefiningOp()) {
    if (isa<RegionBranchOpInterface>(op))
      return withLine("the result of the " + getKind(op), op->getLoc());
    return withLine("the result of " + getShortName(op).str(), op->getLoc());
  }
  auto argument = cast<BlockArgument>(root);
  Operation *parent = argument.getOwner()->getParentOp();
  unsigned index = argument.getArgNumber();
  if (parent != function)
    return withLine("a tensor that the " + getKind(parent) + " carries",
                    parent->getLoc());
  for (StringRef name : {"tssa.parameter", "tssa.name"})
    if (auto text = function.getArgAttrOfType<StringAttr>(index, name))
      return "'" + text.str() + "'";
  return "argument " + std::to_string(index);
}

std::string ssa_compiler::describePath(ArrayRef<Operation *> path) {
  std::string text;
  for (Operation *view : path) {
    StringRef name = getShortName(view);
    name.consume_front("aten.");
    text += "." + name.split('.').first.str() + "(";
    for (auto [index, param] : llvm::enumerate(view->getOperands())) {
      if (index == 0)
        continue;
      std::optional<int64_t> constant = getIntConstant(param);
      text += (index == 1 ? "" : ", ") +
              (constant ? std::to_string(*constant) : "_");
    }
    text += ")";
  }
  return text;
}
