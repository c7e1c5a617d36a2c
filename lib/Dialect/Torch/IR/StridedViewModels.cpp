//===- StridedViewModels.cpp - views given by strides ---------------------===//
//
// as_strided looks at the storage that its base begins, not at the base's
// elements in their order. For a base that fills its storage (contiguous, at
// offset 0; the importer sees to that) the storage is the flattened base, and
// the view is the elements at computed positions of it.
//
//===----------------------------------------------------------------------===//

#include "ViewModels.h"

#include "ssa-compiler/Dialect/Torch/IR/TorchBuilders.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ssa_compiler;
using namespace ssa_compiler::torch;

namespace {

/// `as_strided(size, stride, storage_offset)`.
class AsStridedView final : public ViewModel {
public:
  bool looksAtStorage() const override { return true; }

  Value buildAccess(OpBuilder &builder, Location loc, const ViewInstance &view,
                    Type resultType) const override {
    auto type = cast<ValueTensorType>(resultType);
    if (failed(verify(loc, view, type)))
      return {};
    Value positions = buildPositions(builder, loc, view, type);
    Value flat = flatten(builder, loc, view.base);
    auto listed = cast<ValueTensorType>(positions.getType());
    Value elements =
        buildOp(builder, loc, "torch.aten.index_select",
                listed.getWithSizesAndDtype(listed.getOptionalSizes(),
                                            type.getOptionalDtype()),
                {flat, createIntConstant(builder, loc, 0), positions});
    return buildOp(builder, loc, "torch.aten.view", type,
                   {elements, view.params[0]});
  }

  FailureOr<Value> buildAssign(OpBuilder &builder, Location loc,
                               const ViewInstance &view,
                               Value source) const override {
    if (failed(verify(loc, view, cast<ValueTensorType>(source.getType()))))
      return failure();
    if (mayOverlap(view))
      return emitError(loc) << "unsupported: a write through '" << view.name
                            << "' that may show one element several times; "
                               "clone() the tensor before the write";
    Value positions = buildPositions(builder, loc, view,
                                     cast<ValueTensorType>(source.getType()));
    Value flat = flatten(builder, loc, view.base);
    Value scattered =
        buildOp(builder, loc, "torch.aten.scatter.src", flat.getType(),
                {flat, createIntConstant(builder, loc, 0), positions,
                 flatten(builder, loc, source)});
    return buildViewAs(builder, loc, scattered, view.base);
  }

private:
  /// Fails unless ranks are known and there are a size and a stride for each
  /// dimension of the view, of type `type`.
  static LogicalResult verify(Location loc, const ViewInstance &view,
                              BaseTensorType type) {
    auto count = [](Value list) -> std::optional<size_t> {
      auto op = list.getDefiningOp<PrimListConstructOp>();
      return op ? std::optional<size_t>(op->getNumOperands()) : std::nullopt;
    };
    if (cast<BaseTensorType>(view.base.getType()).hasSizes() &&
        type.hasSizes() && count(view.params[0]) == type.getSizes().size() &&
        count(view.params[1]) == type.getSizes().size())
      return success();
    return emitError(loc) << "unsupported: '" << view.name
                          << "' of unknown rank, or without a size and a "
                             "stride for each dimension";
  }

  /// The product of two sizes, or kUnknownSize.
  static int64_t multiply(int64_t lhs, int64_t rhs) {
    int64_t product;
    if (lhs == kUnknownSize || rhs == kUnknownSize ||
        llvm::MulOverflow(lhs, rhs, product))
      return kUnknownSize;
    return product;
  }

  /// The number of elements of a tensor type, or kUnknownSize.
  static int64_t countElements(BaseTensorType type) {
    int64_t count = 1;
    for (int64_t size : type.getSizes())
      count = multiply(count, size);
    return count;
  }

  static Value flatten(OpBuilder &builder, Location loc, Value tensor) {
    auto type = cast<ValueTensorType>(tensor.getType());
    auto flat = ValueTensorType::get(builder.getContext(),
                                     ArrayRef<int64_t>{countElements(type)},
                                     type.getOptionalDtype());
    Value minusOne = createIntConstant(builder, loc, -1);
    return buildOp(builder, loc, "torch.aten.view", flat,
                   {tensor, createIntList(builder, loc, minusOne)});
  }

  /// The positions in the storage of the view's elements, in order, as a tensor
  /// of one dimension.
  static Value buildPositions(OpBuilder &builder, Location loc,
                              const ViewInstance &view, ValueTensorType type) {
    MLIRContext *context = builder.getContext();
    Type si64 = mlir::IntegerType::get(context, 64, mlir::IntegerType::Signed);
    auto sizes = view.params[0].getDefiningOp<PrimListConstructOp>();
    auto strides = view.params[1].getDefiningOp<PrimListConstructOp>();
    Value one = createIntConstant(builder, loc, 1);
    Value none = createNoneConstant(builder, loc);
    // 4 is torch.int64 in PyTorch's ScalarType.
    Value dtype = createIntConstant(builder, loc, 4);
    auto range = [&](Value count, int64_t size) {
      auto to = ValueTensorType::get(context, ArrayRef<int64_t>{size}, si64);
      return buildOp(builder, loc, "torch.aten.arange", to,
                     {count, dtype, none, none, none});
    };
    auto scale = [&](Value tensor, StringRef name, ValueRange operands) {
      SmallVector<Value> all{tensor};
      llvm::append_range(all, operands);
      return buildOp(builder, loc, name, tensor.getType(), all);
    };
    size_t rank = type.getSizes().size();
    Value sum;
    SmallVector<int64_t> shape;
    for (size_t dim = 0; dim < rank; ++dim) {
      int64_t size = type.getSizes()[dim];
      Value steps = scale(range(sizes.getOperand(dim), size),
                          "torch.aten.mul.Scalar", strides.getOperand(dim));
      if (!sum) {
        sum = steps;
        shape.push_back(size);
        continue;
      }
      // A row for each position so far, a column for each step.
      SmallVector<int64_t> column{shape[0], 1};
      sum = buildOp(builder, loc, "torch.aten.unsqueeze",
                    ValueTensorType::get(context, column, si64), {sum, one});
      int64_t count = multiply(shape[0], size);
      SmallVector<int64_t> table{shape[0], size};
      sum = buildOp(builder, loc, "torch.aten.add.Tensor",
                    ValueTensorType::get(context, table, si64),
                    {sum, steps, one});
      Value minusOne = createIntConstant(builder, loc, -1);
      sum =
          buildOp(builder, loc, "torch.aten.view",
                  ValueTensorType::get(context, ArrayRef<int64_t>{count}, si64),
                  {sum, createIntList(builder, loc, minusOne)});
      shape[0] = count;
    }
    if (!sum)
      sum = range(one, 1);
    bool hasOffset = isa<IntType>(view.params[2].getType());
    if (hasOffset && getIntConstant(view.params[2]) != 0)
      sum =
          scale(sum, "torch.aten.add.Scalar", ValueRange{view.params[2], one});
    return sum;
  }

  /// True unless sizes and strides are known to lead to different elements.
  static bool mayOverlap(const ViewInstance &view) {
    auto sizes = view.params[0].getDefiningOp<PrimListConstructOp>();
    std::optional<SmallVector<int64_t>> strides =
        getIntListConstant(view.params[1]);
    if (!sizes || !strides)
      return true;
    constexpr int64_t kUnbounded = -1;
    SmallVector<std::pair<int64_t, int64_t>> dims;
    for (auto [size, stride] : llvm::zip_equal(sizes.getOperands(), *strides)) {
      std::optional<int64_t> constant = getIntConstant(size);
      if (constant && *constant == 0)
        return false;
      // No storage is that large; below, nothing overflows.
      constexpr int64_t kLarge = int64_t(1) << 40;
      if (stride < 0 || stride > kLarge || (constant && *constant < 0))
        return true;
      if (!constant || *constant > 1)
        dims.push_back({stride, constant.value_or(kUnbounded)});
    }
    // From the smallest stride up, each dimension has to step over all that the
    // ones before it reach.
    llvm::sort(dims);
    int64_t reach = 0;
    bool steps = true;
    for (auto [stride, size] : dims) {
      steps &= reach != kUnbounded && stride > reach;
      int64_t extent;
      if (size == kUnbounded || reach == kUnbounded ||
          llvm::MulOverflow(stride, size - 1, extent) ||
          llvm::AddOverflow(reach, extent, reach))
        reach = kUnbounded;
    }
    if (steps)
      return false;
    // Others may interleave without overlap: count the positions.
    constexpr size_t kLargest = 1 << 16;
    SmallVector<int64_t> positions{0};
    for (auto [stride, size] : dims) {
      if (size == kUnbounded || size > int64_t(kLargest / positions.size()))
        return true;
      size_t before = positions.size();
      for (int64_t step = 1; step < size; ++step)
        for (size_t index = 0; index < before; ++index)
          positions.push_back(positions[index] + step * stride);
    }
    llvm::DenseSet<int64_t> distinct(positions.begin(), positions.end());
    return distinct.size() != positions.size();
  }
};

} // namespace

void torch::addStridedViewModels(AddViewModelFn add) {
  add("torch.aten.as_strided", std::make_unique<AsStridedView>());
}
