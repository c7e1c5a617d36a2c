// Types of the torch dialect: parsing, printing and verification. Inside angle
// brackets torch types are written without the
// `!torch.` prefix, a tensor's dtype with it.

#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ssa_compiler;
using namespace ssa_compiler::torch;

namespace ssa_compiler::torch {
static Type parseContained(AsmParser &parser);
static void printContained(AsmPrinter &printer, Type type);
} // namespace ssa_compiler::torch

#define GET_TYPEDEF_CLASSES
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.cpp.inc"

namespace ssa_compiler::torch {

void TorchDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Contained types
//===----------------------------------------------------------------------===//

/// Parses a torch type without its prefix, `int` of `!torch.list<int>`. Null,
/// after a diagnostic, if there is none.
static Type parseContained(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef mnemonic;
  Type type;
  OptionalParseResult result = generatedTypeParser(parser, &mnemonic, type);
  if (!result.has_value()) {
    parser.emitError(loc) << "unknown torch type '" << mnemonic << "'";
    return {};
  }
  return failed(*result) ? Type() : type;
}

static void printContained(AsmPrinter &printer, Type type) {
  if (failed(generatedTypePrinter(type, printer)))
    printer << type;
}

/// Only torch types can be written without a prefix.
static LogicalResult
verifyContained(function_ref<InFlightDiagnostic()> emitError, Type type) {
  if (!type || !isa<TorchDialect>(type.getDialect()))
    return emitError() << "expected a torch type inside a torch type, got "
                       << type;
  return success();
}

template <typename ConcreteType> static Type parseOne(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  Type type = parseContained(parser);
  if (!type || parser.parseGreater())
    return {};
  return parser.getChecked<ConcreteType>(loc, parser.getContext(), type);
}

Type OptionalType::parse(AsmParser &parser) {
  return parseOne<OptionalType>(parser);
}
Type ListType::parse(AsmParser &parser) { return parseOne<ListType>(parser); }

static void printOne(AsmPrinter &printer, Type type) {
  printer << "<";
  printContained(printer, type);
  printer << ">";
}

void OptionalType::print(AsmPrinter &printer) const {
  printOne(printer, getContainedType());
}
void ListType::print(AsmPrinter &printer) const {
  printOne(printer, getContainedType());
}

LogicalResult OptionalType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   Type type) {
  return verifyContained(emitError, type);
}
LogicalResult ListType::verify(function_ref<InFlightDiagnostic()> emitError,
                               Type type) {
  return verifyContained(emitError, type);
}

template <typename ConcreteType> static Type parseMany(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Type> types;
  auto parseElement = [&]() -> ParseResult {
    types.push_back(parseContained(parser));
    return success(static_cast<bool>(types.back()));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseElement))
    return {};
  return parser.getChecked<ConcreteType>(loc, parser.getContext(), types);
}

Type TupleType::parse(AsmParser &parser) {
  return parseMany<TupleType>(parser);
}
Type UnionType::parse(AsmParser &parser) {
  return parseMany<UnionType>(parser);
}

static void printMany(AsmPrinter &printer, ArrayRef<Type> types) {
  printer << "<";
  llvm::interleaveComma(types, printer.getStream(),
                        [&](Type type) { printContained(printer, type); });
  printer << ">";
}

void TupleType::print(AsmPrinter &printer) const {
  printMany(printer, getContainedTypes());
}
void UnionType::print(AsmPrinter &printer) const {
  printMany(printer, getContainedTypes());
}

static LogicalResult
verifyAllContained(function_ref<InFlightDiagnostic()> emitError,
                   ArrayRef<Type> types) {
  return success(llvm::all_of(types, [&](Type type) {
    return succeeded(verifyContained(emitError, type));
  }));
}

LogicalResult TupleType::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<Type> types) {
  return verifyAllContained(emitError, types);
}
LogicalResult UnionType::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<Type> types) {
  return verifyAllContained(emitError, types);
}

Type DictType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  Type key = parseContained(parser);
  if (!key || parser.parseComma())
    return {};
  Type value = parseContained(parser);
  if (!value || parser.parseGreater())
    return {};
  return parser.getChecked<DictType>(loc, parser.getContext(), key, value);
}

void DictType::print(AsmPrinter &printer) const {
  printMany(printer, {getKeyType(), getValueType()});
}

LogicalResult DictType::verify(function_ref<InFlightDiagnostic()> emitError,
                               Type key, Type value) {
  return verifyAllContained(emitError, {key, value});
}

Type NnModuleType::parse(AsmParser &parser) {
  std::string name;
  if (parser.parseLess() || parser.parseString(&name) || parser.parseGreater())
    return {};
  return get(parser.getContext(), name);
}

void NnModuleType::print(AsmPrinter &printer) const {
  printer << "<\"" << getClassName() << "\">";
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

bool BaseTensorType::classof(Type type) {
  return isa<NonValueTensorType, ValueTensorType>(type);
}

bool BaseTensorType::hasValueSemantics() const {
  return isa<ValueTensorType>(*this);
}

std::optional<ArrayRef<int64_t>> BaseTensorType::getOptionalSizes() const {
  auto get = [](auto type) -> std::optional<ArrayRef<int64_t>> {
    if (!type.getRanked())
      return std::nullopt;
    return type.getRawSizes();
  };
  if (auto tensor = dyn_cast<NonValueTensorType>(*this))
    return get(tensor);
  return get(cast<ValueTensorType>(*this));
}

Type BaseTensorType::getOptionalDtype() const {
  if (auto tensor = dyn_cast<NonValueTensorType>(*this))
    return tensor.getOptionalDtype();
  return cast<ValueTensorType>(*this).getOptionalDtype();
}

BaseTensorType
BaseTensorType::getWithSizesAndDtype(std::optional<ArrayRef<int64_t>> sizes,
                                     Type dtype) const {
  if (hasValueSemantics())
    return ValueTensorType::get(getContext(), sizes, dtype);
  return NonValueTensorType::get(getContext(), sizes, dtype);
}

ValueTensorType BaseTensorType::getWithValueSemantics() const {
  return ValueTensorType::get(getContext(), getOptionalSizes(),
                              getOptionalDtype());
}

NonValueTensorType BaseTensorType::getWithoutValueSemantics() const {
  return NonValueTensorType::get(getContext(), getOptionalSizes(),
                                 getOptionalDtype());
}

ValueTensorType NonValueTensorType::getWithValueSemantics() const {
  return BaseTensorType::getWithValueSemantics();
}

NonValueTensorType ValueTensorType::getWithoutValueSemantics() const {
  return BaseTensorType::getWithoutValueSemantics();
}

NonValueTensorType
NonValueTensorType::getWithLeastStaticInformation(MLIRContext *context) {
  return get(context, std::nullopt, Type());
}

ValueTensorType
ValueTensorType::getWithLeastStaticInformation(MLIRContext *context) {
  return get(context, std::nullopt, Type());
}

TensorType ValueTensorType::toBuiltinTensor() const {
  if (!hasDtype() || !TensorType::isValidElementType(getDtype()) ||
      isa<TorchDialect>(getDtype().getDialect()))
    return {};
  if (!hasSizes())
    return UnrankedTensorType::get(getDtype());
  return RankedTensorType::get(getSizes(), getDtype());
}

Type getTorchDtype(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer || !integer.isSignless() || integer.getWidth() == 1)
    return element;
  return IntegerType::get(element.getContext(), integer.getWidth(),
                          IntegerType::Signed);
}

/// True for the element types that torch-mlir's tensor types have.
static bool isDtype(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    type = complex.getElementType();
  if (isa<QInt8Type, QUInt8Type, QInt16Type, QInt32Type, StringType>(type))
    return true;
  if (isa<Float16Type, BFloat16Type, Float32Type, Float64Type, Float4E2M1FNType,
          Float8E5M2Type, Float8E4M3FNType, Float8E5M2FNUZType,
          Float8E4M3FNUZType, Float8E4M3B11FNUZType, Float8E8M0FNUType>(type))
    return true;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return false;
  if (integer.isSignless())
    return integer.getWidth() == 1;
  return llvm::is_contained({4u, 8u, 16u, 32u, 64u}, integer.getWidth());
}

static LogicalResult verifyTensor(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int64_t> sizes, bool ranked,
                                  Type dtype) {
  if (dtype && !isDtype(dtype))
    return emitError() << "expected a PyTorch dtype, got " << dtype;
  if (!ranked && !sizes.empty())
    return emitError() << "expected no sizes in a tensor type of unknown rank";
  for (int64_t size : sizes)
    if (size < 0 && size != kUnknownSize)
      return emitError() << "expected a size of at least 0, got " << size;
  return success();
}

LogicalResult
NonValueTensorType::verify(function_ref<InFlightDiagnostic()> emitError,
                           ArrayRef<int64_t> sizes, bool ranked, Type dtype) {
  return verifyTensor(emitError, sizes, ranked, dtype);
}
LogicalResult
ValueTensorType::verify(function_ref<InFlightDiagnostic()> emitError,
                        ArrayRef<int64_t> sizes, bool ranked, Type dtype) {
  return verifyTensor(emitError, sizes, ranked, dtype);
}

/// Parses `*` or `[2,?]`.
static ParseResult parseSizes(AsmParser &parser,
                              SmallVectorImpl<int64_t> &sizes, bool &ranked) {
  ranked = failed(parser.parseOptionalStar());
  if (!ranked)
    return success();
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        if (succeeded(parser.parseOptionalQuestion())) {
          sizes.push_back(kUnknownSize);
          return success();
        }
        return parser.parseInteger(sizes.emplace_back());
      });
}

template <typename ConcreteType> static Type parseTensor(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  MLIRContext *context = parser.getContext();
  if (parser.parseOptionalLess())
    return ConcreteType::get(context, std::nullopt, Type());
  SmallVector<int64_t> sizes;
  bool ranked = false;
  Type dtype;
  if (parseSizes(parser, sizes, ranked) || parser.parseComma())
    return {};
  if (failed(parser.parseOptionalKeyword("unk")) && parser.parseType(dtype))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    parser.emitError(parser.getCurrentLocation())
        << "unsupported: sparse tensor encoding";
    return {};
  }
  if (parser.parseGreater())
    return {};
  auto emitError = [&] { return parser.emitError(loc); };
  if (failed(verifyTensor(emitError, sizes, ranked, dtype)))
    return {};
  std::optional<ArrayRef<int64_t>> optionalSizes;
  if (ranked)
    optionalSizes = sizes;
  return ConcreteType::get(context, optionalSizes, dtype);
}

Type NonValueTensorType::parse(AsmParser &parser) {
  return parseTensor<NonValueTensorType>(parser);
}
Type ValueTensorType::parse(AsmParser &parser) {
  return parseTensor<ValueTensorType>(parser);
}

static void printTensor(AsmPrinter &printer, BaseTensorType type) {
  if (!type.hasSizes() && !type.hasDtype())
    return;
  printer << "<";
  if (type.hasSizes()) {
    printer << "[";
    llvm::interleave(
        type.getSizes(), printer.getStream(),
        [&](int64_t size) {
          if (size == kUnknownSize)
            printer << "?";
          else
            printer << size;
        },
        ",");
    printer << "]";
  } else {
    printer << "*";
  }
  printer << ",";
  if (type.hasDtype())
    printer << type.getDtype();
  else
    printer << "unk";
  printer << ">";
}

void NonValueTensorType::print(AsmPrinter &printer) const {
  printTensor(printer, *this);
}
void ValueTensorType::print(AsmPrinter &printer) const {
  printTensor(printer, *this);
}

} // namespace ssa_compiler::torch
