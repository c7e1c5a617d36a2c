//===- MutationReport.cpp - the report as text and JSON, and its options --===//
//
// See the header. The passes that fill the report are in ReportMutations.cpp.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Transforms/MutationReport.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace ssa_compiler;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// What a fate means, as the end of a sentence about a version.
static StringRef describeFate(StringRef fate) {
  return llvm::StringSwitch<StringRef>(fate)
      .Case("in place", "updated in place")
      .Case("copy", "updated in a copy")
      .Case("whole", "computed anew: every element is written")
      .Case("carried", "carried by the loop as a value of its own: no tensor "
                       "is written in the loop")
      .Case("overwritten", "not made: overwritten before anything reads it")
      .Case("dead", "not made: nothing reads it")
      .Case("rejected", "rejected")
      .Default("not converted");
}

static void printCopy(raw_ostream &os, const ReportedCopy &copy) {
  os << "one copy "
     << (copy.place == "loop" ? "at the start of the loop"
                              : "at the " + copy.place);
  if (!copy.line.empty())
    os << " at " << copy.line;
  os << ", since " << copy.reason;
  if (!copy.askedFor.empty())
    os << "; clone() at " << copy.askedFor << " asks for it";
}

void MutationReport::printText(raw_ostream &os) const {
  for (const ReportedMutation &mutation : mutations) {
    os << (mutation.lines.empty() ? "?" : mutation.lines.front()) << ": "
       << mutation.op << " writes " << mutation.storage << mutation.path
       << ", version " << mutation.version << ": "
       << describeFate(mutation.fate);
    if (!mutation.detail.empty())
      os << ": " << mutation.detail;
    os << "\n";
    for (StringRef line : ArrayRef(mutation.lines).drop_front())
      os << "    in the function at " << line << "\n";
    for (const ReportedRegion &region : llvm::reverse(mutation.regions))
      os << "    in the " << region.kind << " at " << region.line << "\n";
    if (mutation.alternatives > 1)
      os << "    one of " << mutation.alternatives
         << " tensors: the one that control flow has chosen is written\n";
    for (const ReportedCopy &copy : mutation.copies) {
      os << "    ";
      printCopy(os, copy);
      os << "\n";
    }
  }
  if (!error.empty()) {
    os << "the program is rejected: " << error << "\n";
    return;
  }
  os << mutations.size() << " mutations, " << copies.size() << " copies\n";
  for (const ReportedCopy &copy : copies) {
    os << "    ";
    printCopy(os, copy);
    os << "\n";
  }
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static llvm::json::Array toJSON(ArrayRef<ReportedCopy> copies) {
  llvm::json::Array array;
  for (const ReportedCopy &copy : copies)
    array.push_back(llvm::json::Object{{"place", copy.place},
                                       {"line", copy.line},
                                       {"reason", copy.reason},
                                       {"asked_for", copy.askedFor}});
  return array;
}

void MutationReport::printJSON(raw_ostream &os) const {
  llvm::json::Array list;
  for (const ReportedMutation &mutation : mutations) {
    llvm::json::Array regions;
    for (const ReportedRegion &region : mutation.regions)
      regions.push_back(
          llvm::json::Object{{"kind", region.kind}, {"line", region.line}});
    list.push_back(llvm::json::Object{
        {"function", mutation.function},
        {"op", mutation.op},
        {"storage", mutation.storage},
        {"path", mutation.path},
        {"version", static_cast<int64_t>(mutation.version)},
        {"lines", llvm::json::Array(mutation.lines)},
        {"regions", std::move(regions)},
        {"alternatives", static_cast<int64_t>(mutation.alternatives)},
        {"fate", mutation.fate},
        {"detail", mutation.detail},
        {"copies", toJSON(mutation.copies)}});
  }
  os << llvm::formatv("{0:2}", llvm::json::Value(llvm::json::Object{
                                   {"mutations", std::move(list)},
                                   {"copies", toJSON(copies)},
                                   {"error", error}}))
     << "\n";
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

namespace {

enum class ReportFormat { Text, JSON };

struct ReportOptions {
  llvm::cl::opt<std::string> file{
      "tssa-report",
      llvm::cl::desc(
          "With --convert-to-tensorssa: say of each op that writes a tensor "
          "which version it made, whether the update is in place, and if a "
          "copy is needed, why. Written to the standard error, or to a file"),
      llvm::cl::value_desc("file"), llvm::cl::ValueOptional,
      llvm::cl::init("")};
  llvm::cl::opt<ReportFormat> format{
      "tssa-report-format", llvm::cl::desc("Format of --tssa-report:"),
      llvm::cl::values(clEnumValN(ReportFormat::Text, "text", "for people"),
                       clEnumValN(ReportFormat::JSON, "json", "for programs")),
      llvm::cl::init(ReportFormat::Text)};
  SharedReport report = std::make_shared<MutationReport>();
};

} // namespace

static ReportOptions &getOptions() {
  // Not a ManagedStatic: the report is written after llvm_shutdown.
  static ReportOptions options;
  return options;
}

void ssa_compiler::registerMutationReportOptions() { getOptions(); }

SharedReport ssa_compiler::getRequestedReport() {
  ReportOptions &options = getOptions();
  return options.file.getNumOccurrences() ? options.report : nullptr;
}

LogicalResult ssa_compiler::emitRequestedReport() {
  SharedReport report = getRequestedReport();
  if (!report)
    return success();
  ReportOptions &options = getOptions();
  if (!report->started) {
    llvm::errs() << "error: --tssa-report needs --convert-to-tensorssa\n";
    return failure();
  }
  auto print = [&](raw_ostream &os) {
    if (options.format == ReportFormat::JSON)
      report->printJSON(os);
    else
      report->printText(os);
  };
  if (options.file.empty()) {
    print(llvm::errs());
    return success();
  }
  std::error_code error;
  llvm::ToolOutputFile output(options.file, error, llvm::sys::fs::OF_Text);
  if (error) {
    llvm::errs() << "error: cannot write '" << options.file
                 << "': " << error.message() << "\n";
    return failure();
  }
  print(output.os());
  output.keep();
  return success();
}
