//===- LinkKernelLibrary.cpp - functions that kernels call ----------------===//

#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/Inliner.h"
#include "mlir/Transforms/InliningUtils.h"

// The files of Library/, as strings.
#include "KernelLibrary.h.inc"

namespace ssa_compiler {
#define GEN_PASS_DEF_LINKKERNELLIBRARYPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;

/// What the names of functions that stand for ops begin with.
static constexpr StringLiteral kOpPrefix = "ssa_compiler.op.";

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
      if (function.isDeclaration() && isOfLibrary(function.getName()))
        declared.push_back(function);
    for (func::FuncOp function : declared)
      if (failed(define(function, table)))
        return signalPassFailure();
    if (failed(inlineCalls(table)))
      return signalPassFailure();
  }

private:
  /// Replaces a declaration by the file of the library that has the function.
  LogicalResult define(func::FuncOp declared, SymbolTable &table) {
    StringRef name = declared.getName();
    if (name.consume_front(kOpPrefix))
      return defineAsOp(declared, name);
    auto spread =
        StringAttr::get(&getContext(), declared.getName() + ".parallel");
    for (StringAttr symbol : {spread, declared.getNameAttr()}) {
      if (symbol == spread && !parallel)
        continue;
      OwningOpRef<ModuleOp> file;
      func::FuncOp found = find(symbol, file);
      if (!found)
        continue;
      if (found.getFunctionType() != declared.getFunctionType())
        return declared.emitError("the library has it with the type ")
               << found.getFunctionType();
      if (failed(SymbolTable::replaceAllSymbolUses(declared, symbol,
                                                   getOperation())))
        return failure();
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

  /// Finds a function in the library, and reads the file that it is in.
  func::FuncOp find(StringAttr symbol, OwningOpRef<ModuleOp> &file) {
    for (StringRef text : kKernelLibrary) {
      if (!text.contains(symbol.getValue()))
        continue;
      file = parseSourceString<ModuleOp>(
          text, ParserConfig(&getContext(), /*verifyAfterParse=*/true));
      if (!file)
        return nullptr;
      if (auto found = file->lookupSymbol<func::FuncOp>(symbol))
        return found;
    }
    return nullptr;
  }

  /// Gives a function that is named after an op a body of this op.
  static LogicalResult defineAsOp(func::FuncOp declared, StringRef name) {
    if (!RegisteredOperationName::lookup(name, declared.getContext()))
      return declared.emitError("no such op: ") << name;
    OpBuilder builder = OpBuilder::atBlockBegin(declared.addEntryBlock());
    OperationState state(declared.getLoc(), name, declared.getArguments(),
                         declared.getResultTypes());
    Operation *op = builder.create(state);
    func::ReturnOp::create(builder, declared.getLoc(), op->getResults());
    return verify(declared);
  }

  static bool isOfLibrary(StringRef name) {
    return name.starts_with("ssa_compiler.");
  }

  /// Replaces calls of the library's functions, which do not call themselves,
  /// by their bodies, and erases the functions. (`--inline` does not take
  /// modules with ops that are not registered.)
  LogicalResult inlineCalls(SymbolTable &table) {
    InlinerInterface interface(&getContext());
    InlinerConfig config;
    SmallVector<func::CallOp> calls;
    auto collect = [&] {
      calls.clear();
      getOperation().walk([&](func::CallOp op) {
        if (isOfLibrary(op.getCallee()))
          calls.push_back(op);
      });
      return !calls.empty();
    };
    while (collect()) {
      for (func::CallOp call : calls) {
        auto callee = table.lookup<func::FuncOp>(call.getCallee());
        if (!callee || failed(inlineCall(interface, config.getCloneCallback(),
                                         call, callee, &callee.getBody())))
          return call.emitError("cannot be inlined");
        call.erase();
      }
    }
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (isOfLibrary(function.getName()))
        table.erase(function);
    return success();
  }
};
} // namespace
