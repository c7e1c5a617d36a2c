// The table of operator schemas: GeneratedTorchOps.inc, parsed once per
// process.

#include "SchemaTable.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/ErrorHandling.h"

#include <memory>
#include <mutex>

using namespace mlir;
using namespace ssa_compiler::torch;

static const SchemaRow rows[] = {
#define TORCH_OP(NAME, SCHEMA, FUNCTIONAL, KINDS, FLAGS)                       \
  {NAME, SCHEMA, FUNCTIONAL, KINDS, FLAGS, true},
#define TORCH_KNOWN_OP(NAME, SCHEMA, FUNCTIONAL, KINDS, FLAGS)                 \
  {NAME, SCHEMA, FUNCTIONAL, KINDS, FLAGS, false},
#include "ssa-compiler/Dialect/Torch/IR/GeneratedTorchOps.inc"
};

ArrayRef<SchemaRow> ssa_compiler::torch::getSchemaRows() { return rows; }

namespace {
struct ParsedRow {
  const SchemaRow *row;
  Schema schema;
};
} // namespace

/// All rows by torch name. A row that does not parse is a mistake of the
/// generator, which a test would have found.
static const llvm::StringMap<ParsedRow> &getTable() {
  static const llvm::StringMap<ParsedRow> table = [] {
    llvm::StringMap<ParsedRow> result;
    for (const SchemaRow &row : rows) {
      std::string error;
      FailureOr<Schema> schema = parseSchema(row.schema, &error);
      if (failed(schema))
        llvm::report_fatal_error(
            Twine("bad schema in GeneratedTorchOps.inc: ") + row.schema + ": " +
            error);
      StringRef flags = row.flags;
      schema->isRandom |= flags.contains("random");
      schema->changesMetadata = flags.contains("metadata");
      schema->keptKinds = row.keptKinds;
      result.try_emplace(row.name, ParsedRow{&row, std::move(*schema)});
    }
    return result;
  }();
  return table;
}

const Schema *ssa_compiler::torch::lookupSchema(StringRef torchName) {
  auto it = getTable().find(torchName);
  return it == getTable().end() ? nullptr : &it->second.schema;
}

StringRef ssa_compiler::torch::lookupSchemaText(StringRef torchName) {
  auto it = getTable().find(torchName);
  return it == getTable().end() ? StringRef()
                                : StringRef(it->second.row->schema);
}

StringRef ssa_compiler::torch::lookupFunctionalName(StringRef torchName) {
  auto it = getTable().find(torchName);
  return it == getTable().end() ? StringRef()
                                : StringRef(it->second.row->functional);
}

const Schema *ssa_compiler::torch::internSchema(StringRef text) {
  static std::mutex mutex;
  static llvm::StringMap<std::unique_ptr<Schema>> schemas;
  std::lock_guard<std::mutex> lock(mutex);
  auto [it, inserted] = schemas.try_emplace(text);
  if (inserted) {
    FailureOr<Schema> schema = parseSchema(text);
    if (succeeded(schema)) {
      // The table knows what is not in PyTorch's text: tags, and aliases that
      // PyTorch does not announce.
      const Schema *known = lookupSchema(schema->getTorchName());
      bool sameOp = known &&
                    known->arguments.size() == schema->arguments.size() &&
                    known->returns.size() == schema->returns.size();
      // An op on copies draws random numbers if the op does.
      StringRef name = schema->overload;
      if (schema->name == "functionalized::aten")
        if (const Schema *op = lookupSchema(("torch.aten." + name).str()))
          schema->isRandom |= op->isRandom;
      it->second =
          std::make_unique<Schema>(sameOp ? *known : std::move(*schema));
    }
  }
  return it->second.get();
}
