// Ops that exist only as rows of the schema table: their registration, textual
// form, verifier and interfaces. One model class serves them all, so that 780
// ops cost no compile time.

#include "SchemaTable.h"

#include "ssa-compiler/Dialect/Torch/IR/TorchDialect.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOpInterfaces.h"

#include "mlir/IR/ExtensibleDialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace ssa_compiler::torch;

//===----------------------------------------------------------------------===//
// Textual form
//===----------------------------------------------------------------------===//

ParseResult ssa_compiler::torch::parseSchemaOp(OpAsmParser &parser,
                                               OperationState &state,
                                               const Schema &schema) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SMLoc loc = parser.getCurrentLocation();
  auto delimiter = schema.isVararg ? OpAsmParser::Delimiter::Paren
                                   : OpAsmParser::Delimiter::None;
  int count = schema.isVararg ? -1 : static_cast<int>(schema.arguments.size());
  if (parser.parseOperandList(operands, delimiter, /*allowResultNumber=*/true,
                              count) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColon())
    return failure();
  bool hasOperandTypes =
      schema.isVararg ? !operands.empty() : !schema.arguments.empty();
  bool mayHaveResults = schema.isVarret || !schema.returns.empty();
  SmallVector<Type> types;
  if (hasOperandTypes &&
      (parser.parseTypeList(types) ||
       parser.resolveOperands(operands, types, loc, state.operands)))
    return failure();
  if (!mayHaveResults)
    return success();
  if ((hasOperandTypes || schema.isVararg) && parser.parseArrow())
    return failure();
  if (schema.isVarret) {
    // A type list may be empty here.
    Type type;
    OptionalParseResult first = parser.parseOptionalType(type);
    if (!first.has_value())
      return success();
    if (failed(*first))
      return failure();
    state.types.push_back(type);
    while (succeeded(parser.parseOptionalComma()))
      if (parser.parseType(state.types.emplace_back()))
        return failure();
    return success();
  }
  return parser.parseTypeList(state.types);
}

void ssa_compiler::torch::printSchemaOp(OpAsmPrinter &printer, Operation *op,
                                        const Schema &schema) {
  if (schema.isVararg)
    printer << "(" << op->getOperands() << ")";
  else if (op->getNumOperands() != 0)
    printer << " " << op->getOperands();
  printer.printOptionalAttrDict(op->getAttrs());
  printer << " : ";
  llvm::interleaveComma(op->getOperandTypes(), printer);
  bool mayHaveResults = schema.isVarret || !schema.returns.empty();
  if (!mayHaveResults)
    return;
  if (op->getNumOperands() != 0 || schema.isVararg)
    printer << " -> ";
  llvm::interleaveComma(op->getResultTypes(), printer);
}

//===----------------------------------------------------------------------===//
// Model
//===----------------------------------------------------------------------===//

namespace {

/// What MLIR asks of a registered op, answered from its schema. The ops have no
/// properties, no regions and no traits.
class SchemaOpModel final : public OperationName::Impl {
public:
  SchemaOpModel(StringRef name, Dialect *dialect, TypeID typeID,
                const Schema &schema)
      : Impl(name, dialect, typeID, mlir::detail::InterfaceMap()),
        schema(schema) {}

  LogicalResult foldHook(Operation *, ArrayRef<Attribute>,
                         SmallVectorImpl<OpFoldResult> &) final {
    return failure();
  }
  void getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) final {}
  bool hasTrait(TypeID) final { return false; }
  OperationName::ParseAssemblyFn getParseAssemblyFn() final {
    return [this](OpAsmParser &parser, OperationState &state) {
      return parseSchemaOp(parser, state, schema);
    };
  }
  void populateDefaultAttrs(const OperationName &, NamedAttrList &) final {}
  void printAssembly(Operation *op, OpAsmPrinter &printer,
                     StringRef defaultDialect) final {
    StringRef name = op->getName().getStringRef();
    if (!defaultDialect.empty() &&
        name.starts_with((defaultDialect + ".").str()))
      name = name.drop_front(defaultDialect.size() + 1);
    printer << name;
    printSchemaOp(printer, op, schema);
  }
  LogicalResult verifyInvariants(Operation *op) final {
    if (op->getNumRegions() != 0)
      return op->emitOpError("requires zero regions");
    if (op->getNumSuccessors() != 0)
      return op->emitOpError("requires zero successors");
    return verifyAgainstSchema(op, schema);
  }
  LogicalResult verifyRegionInvariants(Operation *) final { return success(); }

  std::optional<Attribute> getInherentAttr(Operation *, StringRef) final {
    return std::nullopt;
  }
  void setInherentAttr(Operation *op, StringAttr name, Attribute value) final {
    op->setDiscardableAttr(name, value);
  }
  void populateInherentAttrs(Operation *, NamedAttrList &) final {}
  LogicalResult verifyInherentAttrs(OperationName, NamedAttrList &,
                                    function_ref<InFlightDiagnostic()>) final {
    return success();
  }
  int getOpPropertyByteSize() final { return 0; }
  void initProperties(OperationName, OpaqueProperties, OpaqueProperties) final {
  }
  void deleteProperties(OpaqueProperties) final {}
  void populateDefaultProperties(OperationName, OpaqueProperties) final {}
  LogicalResult
  setPropertiesFromAttr(OperationName, OpaqueProperties, Attribute,
                        function_ref<InFlightDiagnostic()> emitError) final {
    emitError() << "this operation does not support properties";
    return failure();
  }
  Attribute getPropertiesAsAttr(Operation *) final { return {}; }
  void copyProperties(OpaqueProperties, OpaqueProperties) final {}
  bool compareProperties(OpaqueProperties, OpaqueProperties) final {
    return true;
  }
  llvm::hash_code hashProperties(OpaqueProperties) final { return {}; }

private:
  const Schema &schema;
};

/// The interfaces of all schema ops, answered from the table by name.
struct SchemaInterfaceModel
    : TorchSchemaOpInterface::FallbackModel<SchemaInterfaceModel> {
  const Schema *getSchema(Operation *op) const {
    return lookupSchema(op->getName().getStringRef());
  }
  StringRef getTorchName(Operation *op) const {
    return op->getName().getStringRef();
  }
  std::optional<FunctionalOp> getFunctionalOp(Operation *op) const {
    StringRef name = lookupFunctionalName(op->getName().getStringRef());
    if (name.empty())
      return std::nullopt;
    return FunctionalOp{name, lookupSchema(name)};
  }
};

struct SchemaEffectsModel
    : MemoryEffectOpInterface::FallbackModel<SchemaEffectsModel> {
  void
  getEffects(Operation *op,
             SmallVectorImpl<MemoryEffects::EffectInstance> &effects) const {
    getSchemaEffects(op, lookupSchema(op->getName().getStringRef()), effects);
  }
};

/// Names the results of an op that has several, as torch-mlir does: by the
/// schema's names, `result0` where it has none.
struct SchemaNamesModel : OpAsmOpInterface::FallbackModel<SchemaNamesModel> {
  void getAsmResultNames(Operation *op, OpAsmSetValueNameFn setName) const {
    const Schema *schema = lookupSchema(op->getName().getStringRef());
    for (OpResult result : op->getResults()) {
      unsigned index = result.getResultNumber();
      if (index >= schema->returns.size())
        return;
      StringRef name = schema->returns[index].name;
      setName(result,
              name.empty() ? ("result" + Twine(index)).str() : name.str());
    }
  }
  void getAsmBlockArgumentNames(Operation *, Region &,
                                OpAsmSetValueNameFn) const {}
  void getAsmBlockNames(Operation *, OpAsmSetBlockNameFn) const {}
  static StringRef getDefaultDialect() { return ""; }
};

} // namespace

void TorchDialect::registerSchemaOps() {
  for (const SchemaRow &row : getSchemaRows()) {
    if (!row.isRegistered)
      continue;
    const Schema *schema = lookupSchema(row.name);
    RegisteredOperationName::insert(
        std::make_unique<SchemaOpModel>(row.name, this, typeIDs.allocate(),
                                        *schema),
        /*attrNames=*/{});
    OperationName name(row.name, getContext());
    name.attachInterface<SchemaInterfaceModel, SchemaEffectsModel>();
    if (schema->returns.size() > 1)
      name.attachInterface<SchemaNamesModel>();
  }
}
