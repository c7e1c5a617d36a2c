//===- SSAOptMain.cpp - the main function of ssa-opt ----------------------===//
//
// See the header. The passes are listed by stage here, in the order in which
// the Python package runs them (docs/Architecture.md); the summary of each
// begins with the stage that it serves.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Tools/SSAOptMain.h"

#include "ssa-compiler/InitAll.h"
#include "ssa-compiler/Transforms/MutationReport.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace ssa_compiler;

static constexpr llvm::StringLiteral kOverview =
    "ssa-compiler " SSA_COMPILER_VERSION
    ": pure tensor SSA from TorchScript programs\n"
    "\n"
    "A program passes through these stages. The summary of a pass names in\n"
    "brackets the stage that the pass belongs to.\n"
    "\n"
    "  [imported]   what the importer writes: mutable tensors, "
    "torch.prim.If/Loop\n"
    "  [scf]        --torch-to-scf\n"
    "  [tensorssa]  --convert-to-tensorssa: --torch-insert-bounds-checks,\n"
    "               --tssa-resolve-ambiguous-aliases, "
    "--tssa-rewrite-mutation,\n"
    "               --tssa-block-propagation, --tssa-rename,\n"
    "               --tssa-remove-update, --torch-simplify,\n"
    "               --tssa-promote-slots, --tssa-lower,\n"
    "               --remove-redundant-asserts, --verify-value-semantics\n"
    "  [iree]       --expand-float-to-int, --reserve-capacity,\n"
    "               --fold-nested-updates, --legalize-iree-boundary\n"
    "  [kernels]    after torch-mlir: --lower-tm-tensor, "
    "--link-kernel-library,\n"
    "               --form-kernels, --lower-kernels\n";

/// Prints the project's version, then LLVM's.
static void printVersion(llvm::raw_ostream &stream) {
  stream << "ssa-compiler version " SSA_COMPILER_VERSION "\n";
  llvm::cl::PrintVersionMessage();
}

int ssa_compiler::ssaOptMain(int argc, char **argv) {
  registerAllPasses();
  DialectRegistry registry;
  registerAllDialects(registry);
  registerMutationReportOptions();
  llvm::cl::SetVersionPrinter(printVersion);
  LogicalResult converted = MlirOptMain(argc, argv, kOverview, registry);
  // A program that is rejected has a report, too.
  LogicalResult reported = emitRequestedReport();
  return asMainReturnCode(success(succeeded(converted) && succeeded(reported)));
}
