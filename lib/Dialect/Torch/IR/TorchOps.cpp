// Textual form, verifiers and interfaces of the torch dialect's hand-written
// ops. Folding is in TorchOpsFolding.cpp.

#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"

#include "SchemaTable.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ssa_compiler;
using namespace ssa_compiler::torch;

#define GET_OP_CLASSES
#include "ssa-compiler/Dialect/Torch/IR/Torch.cpp.inc"

namespace ssa_compiler::torch {

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

ParseResult ConstantIntOp::parse(OpAsmParser &parser, OperationState &state) {
  int64_t value;
  if (parser.parseInteger(value) ||
      parser.parseOptionalAttrDict(state.attributes))
    return failure();
  state.getOrAddProperties<Properties>().setValue(
      parser.getBuilder().getI64IntegerAttr(value));
  state.addTypes(IntType::get(parser.getContext()));
  return success();
}

void ConstantIntOp::print(OpAsmPrinter &printer) {
  printer << " " << getValueAttr().getInt();
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
}

void ConstantNoneOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "none");
}

void ConstantStrOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "str");
}

void ConstantDeviceOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getValue());
}

void ConstantIntOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "int" + std::to_string(getValueAttr().getInt()));
}

void ConstantBoolOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getValue() ? "true" : "false");
}

/// `%float1.000000e00`: the number without the characters that a name cannot
/// have.
void ConstantFloatOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  SmallString<16> digits;
  getValue().toString(digits, /*FormatPrecision=*/6, /*FormatMaxPadding=*/0,
                      /*TruncateZero=*/false);
  std::string name = "float";
  for (char c : digits)
    if (llvm::isAlnum(c) || StringRef("_$.-").contains(c))
      name.push_back(c);
  setName(getResult(), name);
}

LogicalResult ValueTensorLiteralOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> loc, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto elements = dyn_cast_or_null<ElementsAttr>(adaptor.getProperties().value);
  if (!elements)
    return failure();
  auto type = dyn_cast<RankedTensorType>(elements.getType());
  if (!type)
    return emitOptionalError(loc, "expected a value of ranked tensor type");
  auto emitError = [&] {
    return mlir::emitError(loc.value_or(UnknownLoc::get(context)));
  };
  auto result = ValueTensorType::getChecked(
      emitError, context, std::optional(type.getShape()),
      getTorchDtype(type.getElementType()));
  if (!result)
    return failure();
  types.push_back(result);
  return success();
}

LogicalResult NonValueTensorLiteralOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getValue().getType());
  if (!type)
    return emitOpError("expected a value of ranked tensor type");
  auto inferred = NonValueTensorType::getChecked(
      [&] { return emitOpError(); }, getContext(),
      std::optional(type.getShape()), getTorchDtype(type.getElementType()));
  if (!inferred)
    return failure();
  if (!isValidSubtype(inferred, getType()))
    return emitOpError() << "expected a result type that includes " << inferred
                         << ", got " << getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Containers
//===----------------------------------------------------------------------===//

LogicalResult PrimListConstructOp::verify() {
  Type contained = getType().getContainedType();
  for (Type type : getOperandTypes())
    if (!isValidSubtype(type, contained))
      return emitOpError() << "expected elements of type " << contained
                           << ", got " << type;
  return success();
}

void PrimListConstructOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (!isNeverWrittenList(getResult()))
    effects.emplace_back(MemoryEffects::Allocate::get(),
                         cast<OpResult>(getResult()));
}

LogicalResult PrimTupleConstructOp::verify() {
  ArrayRef<Type> types = getType().getContainedTypes();
  if (types.size() != getNumOperands())
    return emitOpError() << "expected " << types.size() << " elements, got "
                         << getNumOperands();
  for (auto [operandType, type] : llvm::zip_equal(getOperandTypes(), types))
    if (!isValidSubtype(operandType, type))
      return emitOpError() << "expected an element of type " << type << ", got "
                           << operandType;
  return success();
}

LogicalResult PrimDictConstructOp::verify() {
  for (Type type : getKeys().getTypes())
    if (!isValidSubtype(type, getType().getKeyType()))
      return emitOpError() << "expected keys of type " << getType().getKeyType()
                           << ", got " << type;
  for (Type type : getValues().getTypes())
    if (!isValidSubtype(type, getType().getValueType()))
      return emitOpError() << "expected values of type "
                           << getType().getValueType() << ", got " << type;
  return success();
}

//===----------------------------------------------------------------------===//
// Casts and copies
//===----------------------------------------------------------------------===//

bool DerefineOp::areCastCompatible(TypeRange inputs, TypeRange outputs) {
  return inputs.size() == 1 && outputs.size() == 1 &&
         isValidSubtype(inputs[0], outputs[0]);
}

bool TensorStaticInfoCastOp::areCastCompatible(TypeRange inputs,
                                               TypeRange outputs) {
  if (inputs.size() != 1 || outputs.size() != 1)
    return false;
  auto input = dyn_cast<BaseTensorType>(inputs[0]);
  auto output = dyn_cast<BaseTensorType>(outputs[0]);
  if (!input || !output ||
      input.hasValueSemantics() != output.hasValueSemantics())
    return false;
  if (input.hasDtype() && output.hasDtype() &&
      input.getDtype() != output.getDtype())
    return false;
  if (!input.hasSizes() || !output.hasSizes())
    return true;
  return succeeded(verifyCompatibleShape(input.getSizes(), output.getSizes()));
}

// A cast is its operand, seen as another type: it shares everything with it.
const Schema *DerefineOp::getSchema() {
  return internSchema("torch::derefine(t(a) operand) -> t(a)");
}
StringRef DerefineOp::getTorchName() { return getOperationName(); }
std::optional<FunctionalOp> DerefineOp::getFunctionalOp() {
  return std::nullopt;
}

const Schema *TensorStaticInfoCastOp::getSchema() {
  return internSchema(
      "torch::tensor_static_info_cast(Tensor(a) operand) -> Tensor(a)");
}
StringRef TensorStaticInfoCastOp::getTorchName() { return getOperationName(); }
std::optional<FunctionalOp> TensorStaticInfoCastOp::getFunctionalOp() {
  return std::nullopt;
}

LogicalResult CopyToNonValueTensorOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> loc, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &types) {
  auto type = operands.empty()
                  ? ValueTensorType()
                  : dyn_cast<ValueTensorType>(operands[0].getType());
  if (!type)
    return emitOptionalError(loc, "expected an operand of type !torch.vtensor");
  types.push_back(type.getWithoutValueSemantics());
  return success();
}

LogicalResult CopyToValueTensorOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> loc, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &types) {
  auto type = operands.empty()
                  ? NonValueTensorType()
                  : dyn_cast<NonValueTensorType>(operands[0].getType());
  if (!type)
    return emitOptionalError(loc, "expected an operand of type !torch.tensor");
  types.push_back(type.getWithValueSemantics());
  return success();
}

//===----------------------------------------------------------------------===//
// OperatorOp
//===----------------------------------------------------------------------===//

std::string getOperatorTorchName(StringRef name) {
  return name.starts_with("torch.") ? name.str() : ("torch." + name).str();
}

const Schema *OperatorOp::getSchema() {
  if (auto text = (*this)->getAttrOfType<StringAttr>(getSchemaAttrName()))
    return internSchema(text.getValue());
  return lookupSchema(getOperatorTorchName(getName()));
}

StringRef OperatorOp::getTorchName() {
  if (getName().starts_with("torch."))
    return getName();
  // The context owns the text, so that it outlives the call.
  return StringAttr::get(getContext(), getOperatorTorchName(getName()))
      .getValue();
}

std::optional<FunctionalOp> OperatorOp::getFunctionalOp() {
  StringRef name = lookupFunctionalName(getOperatorTorchName(getName()));
  if (name.empty())
    return std::nullopt;
  return FunctionalOp{name, lookupSchema(name)};
}

void OperatorOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  // What its regions do is not known.
  getSchemaEffects(*this, getRegions().empty() ? getSchema() : nullptr,
                   effects);
  // A schema does not say that two calls may differ.
  if ((*this)->hasAttr("tssa.random")) {
    effects.emplace_back(MemoryEffects::Read::get());
    effects.emplace_back(MemoryEffects::Write::get());
  }
}

LogicalResult OperatorOp::verify() {
  Attribute attribute = (*this)->getAttr(getSchemaAttrName());
  if (!attribute)
    return success();
  auto text = dyn_cast<StringAttr>(attribute);
  if (!text)
    return emitOpError() << "expected attribute '" << getSchemaAttrName()
                         << "' to be a string, got " << attribute;
  std::string error;
  FailureOr<Schema> schema = parseSchema(text.getValue(), &error);
  if (failed(schema))
    return emitOpError() << "expected attribute '" << getSchemaAttrName()
                         << "' to be a PyTorch schema: " << error;
  if (schema->getTorchName() != getOperatorTorchName(getName()))
    return emitOpError() << "expected the schema of '" << getName()
                         << "', got that of '" << schema->getTorchName() << "'";
  return verifyAgainstSchema(*this, *schema);
}

Operation *createTorchOp(OpBuilder &builder, Location loc, StringRef name,
                         TypeRange results, ValueRange operands,
                         StringRef schema) {
  OperationName opName(name, builder.getContext());
  if (opName.isRegistered()) {
    OperationState state(loc, opName, operands, results);
    return builder.create(state);
  }
  auto op =
      OperatorOp::create(builder, loc, results, builder.getStringAttr(name),
                         operands, /*regionsCount=*/0);
  if (!schema.empty())
    op->setAttr(OperatorOp::getSchemaAttrName(), builder.getStringAttr(schema));
  else if (StringRef text = lookupSchemaText(name); !text.empty())
    op->setAttr(OperatorOp::getSchemaAttrName(), builder.getStringAttr(text));
  return op;
}

//===----------------------------------------------------------------------===//
// Global slots
//===----------------------------------------------------------------------===//

ParseResult InitializeGlobalSlotsOp::parse(OpAsmParser &parser,
                                           OperationState &state) {
  SmallVector<Attribute> names;
  auto parseSlot = [&]() -> ParseResult {
    StringAttr name;
    OpAsmParser::UnresolvedOperand operand;
    Type type;
    if (parser.parseSymbolName(name) || parser.parseLParen() ||
        parser.parseOperand(operand) || parser.parseColonType(type) ||
        parser.parseRParen())
      return failure();
    names.push_back(FlatSymbolRefAttr::get(name));
    return parser.resolveOperand(operand, type, state.operands);
  };
  if (parser.parseOptionalAttrDict(state.attributes) || parser.parseLSquare())
    return failure();
  while (failed(parser.parseOptionalRSquare()))
    if (parseSlot())
      return failure();
  state.getOrAddProperties<Properties>().slotSymNames =
      parser.getBuilder().getArrayAttr(names);
  return success();
}

void InitializeGlobalSlotsOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDict((*this)->getAttrs(), {"slotSymNames"});
  printer << " [";
  printer.printNewline();
  for (auto [name, value] : llvm::zip(getSlotSymNames(), getInitialValues())) {
    printer << "  " << name << "(" << value << " : " << value.getType() << ")";
    printer.printNewline();
  }
  printer << "]";
}

LogicalResult InitializeGlobalSlotsOp::verify() {
  if (getSlotSymNames().size() != getInitialValues().size())
    return emitOpError() << "expected as many values as slots ("
                         << getSlotSymNames().size() << "), got "
                         << getInitialValues().size();
  return success();
}

//===----------------------------------------------------------------------===//
// Annotations and flex attention
//===----------------------------------------------------------------------===//

ParseResult BindSymbolicShapeOp::parse(OpAsmParser &parser,
                                       OperationState &state) {
  OpAsmParser::UnresolvedOperand operand;
  SmallVector<OpAsmParser::UnresolvedOperand> symbols;
  AffineMapAttr map;
  Type type;
  if (parser.parseOperand(operand) || parser.parseComma() ||
      parser.parseOperandList(symbols, OpAsmParser::Delimiter::Square) ||
      parser.parseComma() || parser.parseAttribute(map) ||
      parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColonType(type))
    return failure();
  state.getOrAddProperties<Properties>().setShapeExpressions(map);
  return failure(
      failed(parser.resolveOperand(operand, type, state.operands)) ||
      failed(parser.resolveOperands(symbols, IntType::get(parser.getContext()),
                                    state.operands)));
}

void BindSymbolicShapeOp::print(OpAsmPrinter &printer) {
  printer << " " << getOperand() << ", [" << getShapeSymbols()
          << "], affine_map<";
  // Printed here and not through the attribute, which would become an alias at
  // the top of the file.
  getShapeExpressions().getValue().print(printer.getStream());
  printer << ">";
  printer.printOptionalAttrDict((*this)->getAttrs(), {"shape_expressions"});
  printer << " : " << getOperand().getType();
}

LogicalResult BindSymbolicShapeOp::verify() {
  unsigned symbols = getShapeExpressions().getValue().getNumSymbols();
  if (symbols != getShapeSymbols().size())
    return emitOpError() << "expected " << symbols
                         << " symbols, as the map has, got "
                         << getShapeSymbols().size();
  for (Value symbol : getShapeSymbols())
    if (!symbol.getDefiningOp<SymbolicIntOp>())
      return emitOpError("expected every symbol to be a torch.symbolic_int");
  return success();
}

const Schema *HigherOrderFlexAttentionOp::getSchema() {
  return internSchema("torch::hop_flex_attention(Tensor query, Tensor key, "
                      "Tensor value, float? scale, bool return_lse, "
                      "bool return_max_scores) -> (Tensor output, Tensor? "
                      "logsumexp, Tensor? max_scores)");
}
StringRef HigherOrderFlexAttentionOp::getTorchName() {
  return getOperationName();
}
std::optional<FunctionalOp> HigherOrderFlexAttentionOp::getFunctionalOp() {
  return std::nullopt;
}

void HigherOrderFlexAttentionOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  getSchemaEffects(*this, getSchema(), effects);
}

static const Schema &getFlexAttentionForm() {
  static const Schema form = *parseSchema(
      "torch::hop_flex_attention(t a, t b, t c, t d, t e, t f) -> (t, t, t)");
  return form;
}

ParseResult HigherOrderFlexAttentionOp::parse(OpAsmParser &parser,
                                              OperationState &state) {
  return parseSchemaOp(parser, state, getFlexAttentionForm());
}

void HigherOrderFlexAttentionOp::print(OpAsmPrinter &printer) {
  printSchemaOp(printer, *this, getFlexAttentionForm());
}

} // namespace ssa_compiler::torch
