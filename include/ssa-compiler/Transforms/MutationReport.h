//===- MutationReport.h - what became of each mutation ----------*- C++ -*-===//
//
// `--tssa-report`: for each op of the source that writes a tensor, the version
// it made and whether the update is in place. The pipeline asks for the passes
// below when the option is given; the tool prints the report at its end, also
// when the program is rejected.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_TRANSFORMS_MUTATIONREPORT_H
#define SSA_COMPILER_TRANSFORMS_MUTATIONREPORT_H

#include "mlir/Pass/Pass.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace ssa_compiler {

/// A region op of the source around a mutation.
struct ReportedRegion {
  /// `loop` or `branch`.
  std::string kind;
  std::string line;
};

/// A copy that an annotation stands for.
struct ReportedCopy {
  /// Where it is made: `update`, `loop`, `end of the loop`, `end of the branch`
  /// or `return`.
  std::string place;
  std::string line;
  /// Why, with the reader's line.
  std::string reason;
  /// The line of the `clone()` that asks for it; empty if it is not asked for.
  std::string askedFor;
};

/// One op of the source that writes a tensor.
struct ReportedMutation {
  std::string function;
  std::string op;
  /// The storage, in words, and the views that lead from it to what is written.
  std::string storage;
  std::string path;
  /// Counts the mutations of the storage in program order, from 1.
  unsigned version = 0;
  /// The user's line first, then those of the functions that it calls.
  std::vector<std::string> lines;
  /// From the outside in.
  std::vector<ReportedRegion> regions;
  /// How many tensors the name may be; 1 unless control flow chooses.
  unsigned alternatives = 1;
  /// `in place`, `copy`, `whole`, `carried`, `overwritten`, `forwarded`,
  /// `dead`, `rejected` or `unconverted`.
  std::string fate = "unconverted";
  /// Why it was rejected.
  std::string detail;
  /// The copies that the update, or what is forwarded to it, needs.
  std::vector<ReportedCopy> copies;
};

/// What the passes note of a mutation on the way.
struct MutationTrace {
  /// The line of the `clone()` that made the storage; empty for any other.
  std::string cloneLine;
  /// Something reads a version that it made.
  bool live = false;
  /// All that reads its version is a write of the same place.
  bool overwritten = false;
  /// It was still an update of a part of a tensor before slots were promoted.
  bool wasUpdate = false;
};

/// The report of one run of the pipeline. Filled by passes, which may run on
/// several functions at once.
struct MutationReport {
  std::mutex mutex;
  bool started = false;
  std::vector<ReportedMutation> mutations;
  /// Beside each mutation.
  std::vector<MutationTrace> traces;
  /// The copies of all functions.
  std::vector<ReportedCopy> copies;
  /// The first error of a program that is rejected.
  std::string error;

  void printText(llvm::raw_ostream &os) const;
  void printJSON(llvm::raw_ostream &os) const;
};

using SharedReport = std::shared_ptr<MutationReport>;

/// Numbers the mutations of a function; first in the pipeline.
std::unique_ptr<mlir::Pass> createBeginMutationReportPass(SharedReport report);
/// Counts the stores that resolving ambiguous aliases made of each mutation.
std::unique_ptr<mlir::Pass>
createReportAmbiguousAliasesPass(SharedReport report);
/// Notes which versions are ever read, after the updates have been removed.
std::unique_ptr<mlir::Pass> createReportVersionsPass(SharedReport report);
/// Notes which mutations still update a tensor, before slots are promoted.
std::unique_ptr<mlir::Pass> createReportUpdatesPass(SharedReport report);
/// Says what became of each mutation and which copies are needed, as
/// `--tssa-annotate-copies` annotates them.
std::unique_ptr<mlir::Pass> createEndMutationReportPass(SharedReport report);

/// Takes the numbers away; last in the pipeline.
std::unique_ptr<mlir::Pass> createStripMutationReportPass(SharedReport report);

/// Registers the command-line options `--tssa-report` and
/// `--tssa-report-format`.
void registerMutationReportOptions();

/// The report that the pipeline has to fill, or null if none was asked for.
SharedReport getRequestedReport();

/// Writes the report where the options say. Fails, with a message, if that is
/// not possible or no pipeline ran that makes one.
llvm::LogicalResult emitRequestedReport();

} // namespace ssa_compiler

#endif // SSA_COMPILER_TRANSFORMS_MUTATIONREPORT_H
