//===- TorchViewOps.cpp - how views are read, written and checked ---------===//
//
// The generic view model, the registry of models, and the interface through
// which ops find theirs. PartViewModels.cpp, WholeViewModels.cpp and
// StridedViewModels.cpp hold the models.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Dialect/Torch/IR/TorchViewOps.h"
#include "ViewModels.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchBuilders.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/ManagedStatic.h"

using namespace mlir;
using namespace ssa_compiler;
using namespace ssa_compiler::torch;

ViewModel::~ViewModel() = default;

void ViewModel::buildChecks(OpBuilder &, Location, Value, ValueRange,
                            SmallVectorImpl<Check> &) const {}

bool ViewModel::areDisjoint(const ViewInstance &, const ViewInstance &) const {
  return false;
}

Value ViewModel::buildAccess(OpBuilder &builder, Location loc,
                             const ViewInstance &view, Type resultType) const {
  SmallVector<Value> operands{view.base};
  llvm::append_range(operands, view.params);
  return createTorchOp(builder, loc, view.name, resultType, operands,
                       view.schema ? view.schema.getValue() : StringRef())
      ->getResult(0);
}

Value torch::buildOp(OpBuilder &builder, Location loc, StringRef name,
                     Type resultType, ValueRange operands) {
  return createTorchOp(builder, loc, name, resultType, operands)->getResult(0);
}

Value torch::buildViewAs(OpBuilder &builder, Location loc, Value tensor,
                         Value like) {
  auto likeType = cast<BaseTensorType>(like.getType());
  auto type = cast<BaseTensorType>(tensor.getType())
                  .getWithSizesAndDtype(likeType.getOptionalSizes(),
                                        likeType.getOptionalDtype());
  return buildOp(builder, loc, "torch.aten.view", type,
                 {tensor, createSizeList(builder, loc, like)});
}

/// The rank of a tensor type; 0 if it is not known.
static unsigned getRank(Type type) {
  auto tensor = cast<BaseTensorType>(type);
  return tensor.hasSizes() ? tensor.getSizes().size() : 0;
}

bool ViewModel::followRepeated(const ViewInstance &view, Type resultType,
                               llvm::SmallBitVector &repeated) const {
  if (repeated.any())
    return false;
  repeated.resize(getRank(resultType));
  return true;
}

bool ViewModel::repeats(const ViewInstance &view, Type resultType) const {
  llvm::SmallBitVector repeated(getRank(view.base.getType()));
  return !followRepeated(view, resultType, repeated) || repeated.any();
}

std::optional<int64_t> torch::getDimension(Value base, Value dim) {
  auto type = cast<BaseTensorType>(base.getType());
  std::optional<int64_t> constant = getIntConstant(dim);
  if (!constant || !type.hasSizes())
    return std::nullopt;
  int64_t rank = type.getSizes().size();
  int64_t index = *constant < 0 ? *constant + rank : *constant;
  if (index < 0 || index >= rank)
    return std::nullopt;
  return index;
}

bool ViewModel::assignKeepsBase(const ViewInstance &, Value) const {
  return true;
}

bool ViewModel::keepsMemory(const ViewInstance &, Type) const { return false; }

bool ViewModel::followStridedSlice(const ViewInstance &, Type,
                                   StridedSlice &) const {
  return false;
}

//===----------------------------------------------------------------------===//
// The generic model
//===----------------------------------------------------------------------===//

FailureOr<Value> ViewModel::buildAssign(OpBuilder &builder, Location loc,
                                        const ViewInstance &view,
                                        Value source) const {
  auto baseType = cast<ValueTensorType>(view.base.getType());
  auto sourceType = cast<ValueTensorType>(source.getType());
  if (!baseType.hasSizes() || !sourceType.hasSizes())
    return emitError(loc) << "unsupported: '" << view.name
                          << "' of a tensor of unknown rank is written";
  MLIRContext *context = builder.getContext();
  auto numElements = [](ValueTensorType type) {
    int64_t count = 1;
    for (int64_t size : type.getSizes())
      count = size == kUnknownSize || count == kUnknownSize ? kUnknownSize
                                                            : count * size;
    return count;
  };
  int64_t baseCount = numElements(baseType);
  Type positionType = IntegerType::get(context, 64, IntegerType::Signed);
  auto flat = [&](int64_t count, Type dtype) {
    return ValueTensorType::get(context, ArrayRef<int64_t>{count}, dtype);
  };
  Value minusOne = createIntConstant(builder, loc, -1);
  Value zero = createIntConstant(builder, loc, 0);
  Value flatSizes = createIntList(builder, loc, minusOne);

  Value count;
  if (baseCount != kUnknownSize) {
    count = createIntConstant(builder, loc, baseCount);
  } else {
    count = createIntConstant(builder, loc, 1);
    for (size_t dim = 0; dim < baseType.getSizes().size(); ++dim)
      count = buildOp(builder, loc, "torch.aten.mul.int", IntType::get(context),
                      {count, createSize(builder, loc, view.base, dim)});
  }
  // 4 is torch.int64 in PyTorch's ScalarType.
  Value none = createNoneConstant(builder, loc);
  Value positions =
      buildOp(builder, loc, "torch.aten.arange", flat(baseCount, positionType),
              {count, createIntConstant(builder, loc, 4), none, none, none});
  Value shaped = buildOp(
      builder, loc, "torch.aten.view",
      baseType.getWithSizesAndDtype(baseType.getOptionalSizes(), positionType),
      {positions, createSizeList(builder, loc, view.base)});
  ViewInstance ofPositions = view;
  ofPositions.base = shaped;
  Value seen = buildAccess(builder, loc, ofPositions,
                           sourceType.getWithSizesAndDtype(
                               sourceType.getOptionalSizes(), positionType));
  auto flatten = [&](Value tensor) {
    auto type = cast<ValueTensorType>(tensor.getType());
    return buildOp(builder, loc, "torch.aten.reshape",
                   flat(numElements(type), type.getDtype()),
                   {tensor, flatSizes});
  };
  Value flatBase = flatten(view.base);
  Value scattered =
      buildOp(builder, loc, "torch.aten.scatter.src", flatBase.getType(),
              {flatBase, zero, flatten(seen), flatten(source)});
  return buildViewAs(builder, loc, scattered, view.base);
}

namespace {

//===----------------------------------------------------------------------===//
// Registry and interface
//===----------------------------------------------------------------------===//

/// The models by torch name.
struct ViewRegistry {
  ViewRegistry() {
    auto add = [&](StringRef name, std::unique_ptr<ViewModel> model) {
      if (StringRef scatter = model->getScatterName(); !scatter.empty())
        scattered[scatter] = name.str();
      models[name] = std::move(model);
    };
    addPartViewModels(add);
    addWholeViewModels(add);
    addStridedViewModels(add);
  }
  llvm::StringMap<std::unique_ptr<ViewModel>> models;
  /// The views by the names of the ops that store to what they show.
  llvm::StringMap<std::string> scattered;
};

/// TorchViewOpInterface for ops whose name leads to a model.
template <typename ConcreteModel>
struct ViewInterfaceBase : TorchViewOpInterface::FallbackModel<ConcreteModel> {
  const ViewModel *getViewModel(Operation *op) const {
    // An op that its schema does not fit is left to those who doubt it.
    auto schemaOp = dyn_cast<TorchSchemaOpInterface>(op);
    const Schema *schema = schemaOp ? schemaOp.getSchema() : nullptr;
    if (!schema || schema->arguments.empty() ||
        schema->arguments.size() != op->getNumOperands() ||
        op->getNumResults() != 1 ||
        !isa<BaseTensorType>(op->getOperand(0).getType()) ||
        !isa<BaseTensorType>(op->getResult(0).getType()))
      return nullptr;
    return lookupViewModel(getViewName(op));
  }
  StringRef getViewName(Operation *op) const {
    if (auto schemaOp = dyn_cast<TorchSchemaOpInterface>(op))
      return schemaOp.getTorchName();
    return op->getName().getStringRef();
  }
  StringAttr getViewSchema(Operation *op) const {
    return op->getAttrOfType<StringAttr>("tssa.schema");
  }
};
struct ViewInterface : ViewInterfaceBase<ViewInterface> {};

} // namespace

static llvm::ManagedStatic<ViewRegistry> viewRegistry;

void torch::registerViewModel(StringRef torchName,
                              std::unique_ptr<ViewModel> model) {
  viewRegistry->models[torchName] = std::move(model);
}

const ViewModel *torch::lookupViewModel(StringRef torchName) {
  auto it = viewRegistry->models.find(torchName);
  return it == viewRegistry->models.end() ? nullptr : it->second.get();
}

StringRef torch::lookupScatteredView(StringRef scatterName) {
  auto it = viewRegistry->scattered.find(scatterName);
  return it == viewRegistry->scattered.end() ? StringRef() : it->second;
}

void torch::registerTorchViewOps(MLIRContext &context) {
  auto attach = [&](StringRef name) {
    if (auto op = RegisteredOperationName::lookup(name, &context))
      op->attachInterface<ViewInterface>();
  };
  for (auto &entry : viewRegistry->models)
    attach(entry.getKey());
  attach(OperatorOp::getOperationName());
}
