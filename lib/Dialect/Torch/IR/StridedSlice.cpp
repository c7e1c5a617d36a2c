//===- StridedSlice.cpp - views that show a strided slice of a tensor -----===//
//
// What the view models share to follow strided slices
// (`ViewModel::followStridedSlice`).
//
//===----------------------------------------------------------------------===//

#include "ViewModels.h"

#include "ssa-compiler/Dialect/Torch/IR/TorchBuilders.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"

using namespace mlir;
using namespace ssa_compiler;
using namespace ssa_compiler::torch;

StridedSlice StridedSlice::getWhole(Value tensor) {
  auto type = cast<BaseTensorType>(tensor.getType());
  StridedSlice slice;
  slice.dimensions.resize(type.getSizes().size());
  slice.shown = llvm::to_vector(llvm::seq<int64_t>(type.getSizes().size()));
  hideUnits(type, slice);
  return slice;
}

/// True if two operands are provably the same number, or both None.
static bool isSameOperand(Value one, Value other) {
  if (one == other)
    return true;
  if (!one || !other)
    return false;
  if (isa<torch::NoneType>(one.getType()) &&
      isa<torch::NoneType>(other.getType()))
    return true;
  std::optional<int64_t> constant = getIntConstant(one);
  return constant && constant == getIntConstant(other);
}

bool StridedSlice::operator==(const StridedSlice &other) const {
  return shown == other.shown &&
         llvm::equal(dimensions, other.dimensions,
                     [](const Dimension &mine, const Dimension &theirs) {
                       return mine.stride == theirs.stride &&
                              llvm::equal(mine.offsets, theirs.offsets,
                                          [](const Offset &a, const Offset &b) {
                                            return a.stride == b.stride &&
                                                   isSameOperand(a.start,
                                                                 b.start) &&
                                                   isSameOperand(a.end, b.end);
                                          });
                     });
}

bool StridedSlice::isWhole() const {
  return llvm::all_of(dimensions, [](const Dimension &dimension) {
    return dimension.offsets.empty() && dimension.stride == 1;
  });
}

bool torch::hideUnits(Type viewType, StridedSlice &slice) {
  auto type = cast<BaseTensorType>(viewType);
  if (!type.hasSizes() || type.getSizes().size() != slice.shown.size())
    return false;
  for (auto [dim, size] : llvm::enumerate(type.getSizes()))
    if (size == 1)
      slice.shown[dim] = StridedSlice::kNone;
  return true;
}

bool torch::followUnits(Type baseType, Type viewType, bool keepsSizes,
                        StridedSlice &slice) {
  auto from = cast<BaseTensorType>(baseType);
  auto to = cast<BaseTensorType>(viewType);
  if (!from.hasSizes() || !to.hasSizes())
    return false;
  auto isUnit = [](int64_t size) { return size == 1; };
  auto before = llvm::to_vector(llvm::make_filter_range(
      from.getSizes(), [&](int64_t size) { return !isUnit(size); }));
  auto after = llvm::to_vector(llvm::make_filter_range(
      to.getSizes(), [&](int64_t size) { return !isUnit(size); }));
  // A change of shape may keep no more than the product of unknown sizes.
  int64_t unknown = llvm::count(before, kUnknownSize);
  bool isSure = keepsSizes || unknown == 0 ||
                (unknown == 1 && !llvm::is_contained(before, 0));
  if (before != after || !isSure)
    return false;
  SmallVector<int64_t> along;
  for (auto [dim, size] : llvm::enumerate(from.getSizes()))
    if (!isUnit(size))
      along.push_back(slice.shown[dim]);
  slice.shown.clear();
  auto next = along.begin();
  for (int64_t size : to.getSizes())
    slice.shown.push_back(isUnit(size) ? StridedSlice::kNone : *next++);
  return true;
}

void torch::followOrder(ArrayRef<int64_t> order, StridedSlice &slice) {
  SmallVector<int64_t> before = slice.shown;
  for (auto [position, dim] : llvm::enumerate(order))
    slice.shown[position] = before[dim];
}
