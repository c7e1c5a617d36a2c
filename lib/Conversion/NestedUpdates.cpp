//===- NestedUpdates.cpp - stores through views of views ------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "NestedUpdates.h"

#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"

using namespace mlir;
using namespace ssa_compiler;
using torch::BaseTensorType;
using torch::StridedSlice;
using torch::TorchViewOpInterface;
using torch::ViewInstance;

std::optional<Store> ssa_compiler::getStore(Operation *op) {
  auto schemaOp = dyn_cast<torch::TorchSchemaOpInterface>(op);
  if (!schemaOp)
    return std::nullopt;
  StringRef view = torch::lookupScatteredView(schemaOp.getTorchName());
  if (view.empty() || op->getNumOperands() < 2 || op->getNumResults() != 1 ||
      op->getOperand(0).getType() != op->getResult(0).getType())
    return std::nullopt;
  return Store{{view, {}, op->getOperand(0), op->getOperands().drop_front(2)},
               op->getOperand(1)};
}

TorchViewOpInterface ssa_compiler::getView(Value value) {
  return dyn_cast_or_null<TorchViewOpInterface>(value.getDefiningOp());
}

static bool followStridedSlice(const ViewInstance &view, Type type,
                               StridedSlice &slice) {
  const torch::ViewModel *model = torch::lookupViewModel(view.name);
  auto tensor = dyn_cast<BaseTensorType>(type);
  return model && tensor && tensor.hasSizes() &&
         cast<BaseTensorType>(view.base.getType()).hasSizes() &&
         model->followStridedSlice(view, type, slice);
}

static bool followStridedSlice(TorchViewOpInterface view, StridedSlice &slice) {
  return followStridedSlice({view.getViewName(), view.getViewSchema(),
                             view.getBase(), view.getParams()},
                            view->getResult(0).getType(), slice);
}

std::optional<StridedSlice> ssa_compiler::getStridedSliceIn(Value base,
                                                            Value value) {
  SmallVector<TorchViewOpInterface> views;
  while (value != base) {
    TorchViewOpInterface view = getView(value);
    if (!view)
      return std::nullopt;
    views.push_back(view);
    value = view.getBase();
  }
  StridedSlice slice = StridedSlice::getWhole(base);
  for (TorchViewOpInterface view : llvm::reverse(views))
    if (!followStridedSlice(view, slice))
      return std::nullopt;
  return slice;
}

/// `slice` is what the view shows; makes it what the view's base shows, if the
/// view shows all of it.
static bool followBack(TorchViewOpInterface view, StridedSlice &slice) {
  if (!cast<BaseTensorType>(view.getBase().getType()).hasSizes())
    return false;
  StridedSlice whole = StridedSlice::getWhole(view.getBase());
  SmallVector<int64_t> all = whole.shown;
  if (!followStridedSlice(view, whole) || !whole.isWhole() ||
      whole.shown.size() != slice.shown.size())
    return false;
  SmallVector<int64_t> shown(all.size(), StridedSlice::kNone);
  for (auto [dim, along] : llvm::enumerate(whole.shown))
    if (along != StridedSlice::kNone)
      shown[along] = slice.shown[dim];
  // A dimension that the view dropped, though it may have more than one
  // element.
  for (auto [before, after] : llvm::zip_equal(all, shown))
    if ((before == StridedSlice::kNone) != (after == StridedSlice::kNone))
      return false;
  slice.shown = shown;
  return true;
}

/// The tensor of the type of `result` of which `changed` shows the slice, or
/// null.
static Value findBase(Value result, Value changed, const StridedSlice &slice) {
  for (Value base = changed;; base = getView(base).getBase()) {
    if (base.getType() == result.getType())
      if (std::optional<StridedSlice> shown = getStridedSliceIn(base, changed);
          shown && *shown == slice)
        return base;
    if (!getView(base))
      return Value();
  }
}

bool ssa_compiler::collectNest(Operation *outermost, Value current,
                               StridedSlice slice, Nest &nest) {
  size_t numInsertions = nest.insertions.size();
  size_t numMembers = nest.members.size();
  while (Operation *maker = current.getDefiningOp()) {
    if (maker->getBlock() != outermost->getBlock())
      break;
    std::optional<Store> store = getStore(maker);
    if (!store) {
      // A later store that has been seen is to a tensor of this shape.
      TorchViewOpInterface view = getView(current);
      if (!view || nest.members.size() > numMembers || !followBack(view, slice))
        break;
      current = view.getBase();
      continue;
    }
    Value changed = store->view.base;
    if (!nest.base)
      nest.base = findBase(outermost->getResult(0), changed, slice);
    StridedSlice inner = slice;
    if (!followStridedSlice(store->view, store->values.getType(), inner))
      break;
    nest.members.push_back({maker, nest.insertions.size(), {}});
    std::optional<StridedSlice> seen;
    if (nest.base)
      seen = getStridedSliceIn(nest.base, changed);
    if (!seen || *seen != slice) {
      // It changes what an earlier store made.
      nest.insertions.push_back({maker, inner, store->values});
      current = changed;
      continue;
    }
    for (Member &member : llvm::drop_begin(nest.members, numMembers))
      member.view = changed;
    for (Insertion &later : llvm::drop_begin(nest.insertions, numInsertions))
      for (StridedSlice::Dimension &dimension : later.slice.dimensions)
        for (StridedSlice::Offset &offset : dimension.offsets)
          if (offset.tensor == later.store->getOperand(0))
            offset.tensor = changed;
    if (!collectNest(outermost, store->values, inner, nest))
      nest.insertions.push_back({maker, inner, store->values});
    return true;
  }
  nest.insertions.truncate(numInsertions);
  nest.members.truncate(numMembers);
  return false;
}
