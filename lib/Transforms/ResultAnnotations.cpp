//===- ResultAnnotations.cpp - what results are arguments or one tensor ---===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "ResultAnnotations.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace ssa_compiler;

/// Sets the attribute of a result to `indices`, together with those that it
/// names already.
static void addIndices(func::FuncOp function, unsigned result, StringRef name,
                       ArrayRef<int64_t> indices) {
  llvm::SetVector<int64_t> all(indices.begin(), indices.end());
  if (auto present = function.getResultAttrOfType<ArrayAttr>(result, name))
    for (auto index : present.getAsRange<IntegerAttr>())
      all.insert(index.getInt());
  if (all.empty())
    return;
  SmallVector<int64_t> sorted(all.takeVector());
  llvm::sort(sorted);
  function.setResultAttr(
      result, name, Builder(function.getContext()).getI64ArrayAttr(sorted));
}

void ssa_compiler::annotateResults(func::FuncOp function,
                                   const TensorAliasAnalysis &aliases) {
  Builder builder(function.getContext());
  Block &body = function.getBody().front();
  SmallVector<const TensorLocation *> locations;
  SmallVector<llvm::SetVector<Value>> roots;
  for (auto [index, value] :
       llvm::enumerate(body.getTerminator()->getOperands())) {
    const TensorLocation *location = aliases.getLocation(value);
    locations.push_back(location);
    roots.push_back(location ? aliases.getPossibleRoots(location->root)
                             : llvm::SetVector<Value>());
    if (!location)
      continue;
    auto set = [&, index = index](StringRef name, int64_t number) {
      if (!function.getResultAttr(index, name))
        function.setResultAttr(index, name, builder.getI64IntegerAttr(number));
    };

    auto argument = dyn_cast<BlockArgument>(location->root);
    bool isArgument = argument && argument.getOwner() == &body;
    if (isArgument)
      set(location->path.empty() ? "tssa.alias_of" : "tssa.view_of",
          argument.getArgNumber());
    else
      addIndices(function, index, "tssa.may_alias",
                 SmallVector<int64_t>(llvm::map_range(
                     aliases.getPossibleArguments(location->root),
                     [](unsigned number) { return int64_t(number); })));
    if (isArgument && location->path.empty())
      continue;

    SmallVector<int64_t> possible;
    for (size_t other = 0; other < index; ++other) {
      if (!locations[other])
        continue;
      if (*locations[other] == *location) {
        set("tssa.same_as", other);
        possible.clear();
        break;
      }
      // Two places that are the same in every run would be one location.
      if ((aliases.isMerge(location->root) ||
           aliases.isMerge(locations[other]->root)) &&
          llvm::any_of(roots[other], [&, index = index](Value root) {
            return roots[index].contains(root);
          }))
        possible.push_back(other);
    }
    if (!function.getResultAttr(index, "tssa.same_as"))
      addIndices(function, index, "tssa.may_same_as", possible);
  }
}
