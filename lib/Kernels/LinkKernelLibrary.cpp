//===- LinkKernelLibrary.cpp - functions that kernels call ----------------===//

#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Parser/Parser.h"

// The files of Library/, as strings.
#include "KernelLibrary.h.inc"

namespace ssa_compiler {
#define GEN_PASS_DEF_LINKKERNELLIBRARYPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;

namespace {
struct LinkKernelLibraryPass
    : public ssa_compiler::impl::LinkKernelLibraryPassBase<
          LinkKernelLibraryPass> {
  using LinkKernelLibraryPassBase::LinkKernelLibraryPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable table(module);
    SmallVector<func::FuncOp> declared;
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isDeclaration() &&
          function.getName().starts_with("ssa_compiler."))
        declared.push_back(function);
    for (func::FuncOp function : declared)
      if (failed(define(function, table)))
        return signalPassFailure();
  }

private:
  /// Replaces a declaration by the file of the library that has the function.
  LogicalResult define(func::FuncOp declared, SymbolTable &table) {
    for (StringRef text : kKernelLibrary) {
      OwningOpRef<ModuleOp> file = parseSourceString<ModuleOp>(
          text, ParserConfig(&getContext(), /*verifyAfterParse=*/true));
      if (!file)
        return failure();
      auto found = file->lookupSymbol<func::FuncOp>(declared.getNameAttr());
      if (!found)
        continue;
      if (found.getFunctionType() != declared.getFunctionType())
        return declared.emitError("the library has it with the type ")
               << found.getFunctionType();
      table.erase(declared);
      for (auto function :
           llvm::make_early_inc_range(file->getOps<func::FuncOp>())) {
        if (table.lookup(function.getName()))
          continue;
        function->remove();
        table.insert(function);
      }
      return success();
    }
    return declared.emitError("no such function in the kernel library");
  }
};
} // namespace
