//===- ReportMutations.cpp - follow mutations through the conversion ------===//
//
// The passes that fill a MutationReport. Each mutation gets a number, which its
// location carries as metadata: whatever the conversion builds for it has that
// location, so that no pass needs to know of the report. The last pass takes
// the numbers away.
//
//===----------------------------------------------------------------------===//

#include "MutationLocations.h"

#include "ssa-compiler/Analysis/TensorAliasAnalysis.h"
#include "ssa-compiler/Analysis/VersionUses.h"
#include "ssa-compiler/Dialect/TSSA/IR/TSSADialect.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOpInterfaces.h"
#include "ssa-compiler/Support/RegionEdges.h"
#include "ssa-compiler/Transforms/MutationReport.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <map>

using namespace mlir;
using namespace ssa_compiler;
using namespace ssa_compiler::torch;

namespace {

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

/// A pass on functions that fills a report.
template <typename ConcreteT>
struct ReportPass : PassWrapper<ConcreteT, OperationPass<func::FuncOp>> {
  explicit ReportPass(SharedReport report) : report(std::move(report)) {}

  void runOnOperation() override {
    func::FuncOp function = this->getOperation();
    if (function.isExternal())
      return;
    std::lock_guard<std::mutex> lock(report->mutex);
    static_cast<ConcreteT *>(this)->fill(function);
    this->markAllAnalysesPreserved();
  }

  MutationTrace &trace(size_t number) { return report->traces[number]; }

  SharedReport report;
};

/// Takes note of errors: of the mutation that one is about, and of the first.
void recordErrors(MLIRContext *context, SharedReport report) {
  context->getDiagEngine().registerHandler([report](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return failure();
    std::lock_guard<std::mutex> lock(report->mutex);
    if (report->error.empty())
      report->error = withLine(diagnostic.str(), diagnostic.getLocation());
    for (size_t number : getNumbers(diagnostic.getLocation())) {
      ReportedMutation &mutation = report->mutations[number];
      if (mutation.fate == "rejected")
        continue;
      mutation.fate = "rejected";
      mutation.detail = diagnostic.str();
    }
    return failure(); // Others show it.
  });
}

struct BeginReport final : ReportPass<BeginReport> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BeginReport)
  using ReportPass::ReportPass;

  void fill(func::FuncOp function) {
    if (!report->started)
      recordErrors(&getContext(), report);
    report->started = true;
    TensorAliasAnalysis aliases(function);
    DenseMap<Value, unsigned> versions;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      ArrayRef<unsigned> written = aliases.getWrittenOperands(op);
      if (written.empty())
        return;
      const TensorLocation *location =
          aliases.getLocation(op->getOperand(written.front()));
      ReportedMutation mutation;
      mutation.function = function.getSymName();
      mutation.op = getShortName(op);
      mutation.storage = describeRoot(function, location->root);
      mutation.path = describePath(location->path);
      mutation.version = ++versions[location->root];
      collectLines(op->getLoc(), mutation.lines);
      for (Operation *parent = op->getParentOp(); parent != function;
           parent = parent->getParentOp())
        mutation.regions.insert(mutation.regions.begin(),
                                {getKind(parent), getLine(parent->getLoc())});
      MutationTrace trace;
      if (Operation *maker = location->root.getDefiningOp())
        if (getShortName(maker) == "aten.clone")
          trace.cloneLine = getLine(maker->getLoc());
      op->setLoc(addNumber(op->getLoc(), report->mutations.size()));
      report->mutations.push_back(std::move(mutation));
      report->traces.push_back(std::move(trace));
    });
  }
};

struct ReportAmbiguousAliases final : ReportPass<ReportAmbiguousAliases> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReportAmbiguousAliases)
  using ReportPass::ReportPass;

  void fill(func::FuncOp function) {
    std::map<size_t, unsigned> stores;
    function.walk([&](TorchSchemaOpInterface op) {
      if (!op.getWrittenOperands().empty())
        for (size_t number : getNumbers(op->getLoc()))
          ++stores[number];
    });
    // One of them is the op itself, on a copy of the chosen tensor.
    for (auto [number, count] : stores)
      report->mutations[number].alternatives = std::max(count - 1, 1u);
  }
};

/// Calls `fn` for each op that makes a version of a storage for a mutation: the
/// last assign of its path, or the op whose result is the version.
void forEachVersion(func::FuncOp function,
                    function_ref<void(size_t, Operation *)> fn) {
  function.walk([&](Operation *op) {
    if (isa<tssa::AccessOp>(op) || op->getNumResults() != 1 ||
        op->getNumRegions() || !tssa::isValueTensor(op->getResult(0).getType()))
      return;
    for (size_t number : getNumbers(op->getLoc())) {
      bool isLast = llvm::none_of(op->getUsers(), [&](Operation *user) {
        auto assign = dyn_cast<tssa::AssignOp>(user);
        return assign && assign.getSource() == op->getResult(0) &&
               llvm::is_contained(getNumbers(user->getLoc()), number);
      });
      if (isLast)
        fn(number, op);
    }
  });
}

/// The values that something with an effect, or the caller, depends on.
DenseSet<Value> findLiveValues(func::FuncOp function) {
  DenseMap<Value, SmallVector<Value>> sources;
  DenseSet<OpOperand *> forwarded;
  function.walk([&](RegionBranchOpInterface op) {
    forEachRegionEdge(op, [&](OpOperand &operand, Value target) {
      sources[target].push_back(operand.get());
      forwarded.insert(&operand);
    });
  });
  DenseSet<Value> live;
  SmallVector<Value> worklist;
  auto addLive = [&](Value value) {
    if (live.insert(value).second)
      worklist.push_back(value);
  };
  function.walk([&](Operation *op) {
    bool isControl =
        op->hasTrait<OpTrait::IsTerminator>() || op->getNumRegions();
    if (op != function && (isControl || !isMemoryEffectFree(op)))
      for (OpOperand &operand : op->getOpOperands())
        if (!forwarded.contains(&operand))
          addLive(operand.get());
  });
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    auto it = sources.find(value);
    Operation *op = value.getDefiningOp();
    if (it != sources.end())
      llvm::for_each(it->second, addLive);
    else if (op && !op->getNumRegions())
      llvm::for_each(op->getOperands(), addLive);
  }
  return live;
}

struct ReportVersions final : ReportPass<ReportVersions> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReportVersions)
  using ReportPass::ReportPass;

  void fill(func::FuncOp function) {
    DenseSet<Value> liveValues = findLiveValues(function);
    forEachVersion(function, [&](size_t number, Operation *op) {
      Value version = op->getResult(0);
      bool live = liveValues.contains(version);
      trace(number).live |= live;
      auto assign = dyn_cast<tssa::AssignOp>(op);
      trace(number).overwritten |=
          assign && live && llvm::all_of(op->getUsers(), [&](Operation *user) {
            auto next = dyn_cast<tssa::AssignOp>(user);
            return next && next.getBase() == version &&
                   next.getView() == assign.getView() &&
                   next.getParams() == assign.getParams();
          });
    });
  }
};

struct ReportUpdates final : ReportPass<ReportUpdates> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReportUpdates)
  using ReportPass::ReportPass;

  void fill(func::FuncOp function) {
    function.walk([&](Operation *op) {
      if (keepsElements(op))
        for (size_t number : getNumbers(op->getLoc()))
          trace(number).wasUpdate = true;
    });
  }
};

struct EndReport final : ReportPass<EndReport> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EndReport)
  using ReportPass::ReportPass;

  void fill(func::FuncOp function) {
    for (size_t number = 0; number < report->mutations.size(); ++number)
      if (report->mutations[number].function == function.getSymName())
        decide(number);
    function.walk([&](Operation *op) {
      if (keepsElements(op))
        for (size_t number : getNumbers(op->getLoc()))
          report->mutations[number].fate = "in place";
    });
    VersionUses uses(function);
    for (OpOperand *reuse : uses.getReuses())
      if (std::optional<CopyReason> reason = uses.getCopyReason(*reuse))
        addCopy(uses, *reuse, *reason);
  }

  /// What became of a mutation of which no update is left.
  void decide(size_t number) {
    const MutationTrace &noted = trace(number);
    report->mutations[number].fate = !noted.live         ? "dead"
                                     : noted.overwritten ? "overwritten"
                                     : noted.wasUpdate   ? "carried"
                                                         : "whole";
  }

  void addCopy(const VersionUses &uses, OpOperand &reuse,
               const CopyReason &reason) {
    Operation *op = reuse.getOwner();
    Operation *place = op;
    ReportedCopy copy;
    copy.reason = reason.describe();
    if (uses.getUpdatedTensor(op)) {
      copy.place = "update";
    } else if (isa<func::ReturnOp>(op)) {
      copy.place = "return";
    } else if (op->hasTrait<OpTrait::IsTerminator>()) {
      copy.place = "end of the " + getKind(op->getParentOp());
      place = op->getParentOp();
    } else {
      copy.place = getKind(op);
    }
    copy.line = getLine(place->getLoc());
    SetVector<size_t> numbers;
    for (Value receiver : uses.getReceivers(reuse))
      if (Operation *update = receiver.getDefiningOp();
          update && uses.getUpdatedTensor(update))
        for (size_t number : getNumbers(update->getLoc()))
          numbers.insert(number);
    for (size_t number : numbers)
      if (copy.askedFor.empty() && reason.kind == "argument")
        copy.askedFor = trace(number).cloneLine;
    report->copies.push_back(copy);
    SmallVector<size_t> own = getNumbers(op->getLoc());
    for (size_t number : numbers) {
      ReportedMutation &mutation = report->mutations[number];
      bool atUpdate = copy.place == "update" && llvm::is_contained(own, number);
      if (atUpdate)
        mutation.fate = "copy";
      if (atUpdate || copy.place != "update")
        mutation.copies.push_back(copy);
    }
  }
};

/// Lowering can still reject a mutation: its numbers go last.
struct StripReport final : ReportPass<StripReport> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StripReport)
  using ReportPass::ReportPass;

  void fill(func::FuncOp function) {
    function.walk([](Operation *op) {
      op->setLoc(removeNumbers(op->getLoc()));
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            argument.setLoc(removeNumbers(argument.getLoc()));
    });
  }
};

} // namespace

std::unique_ptr<Pass>
ssa_compiler::createBeginMutationReportPass(SharedReport report) {
  return std::make_unique<BeginReport>(std::move(report));
}

std::unique_ptr<Pass>
ssa_compiler::createReportAmbiguousAliasesPass(SharedReport report) {
  return std::make_unique<ReportAmbiguousAliases>(std::move(report));
}

std::unique_ptr<Pass>
ssa_compiler::createReportVersionsPass(SharedReport report) {
  return std::make_unique<ReportVersions>(std::move(report));
}

std::unique_ptr<Pass>
ssa_compiler::createReportUpdatesPass(SharedReport report) {
  return std::make_unique<ReportUpdates>(std::move(report));
}

std::unique_ptr<Pass>
ssa_compiler::createEndMutationReportPass(SharedReport report) {
  return std::make_unique<EndReport>(std::move(report));
}

std::unique_ptr<Pass>
ssa_compiler::createStripMutationReportPass(SharedReport report) {
  return std::make_unique<StripReport>(std::move(report));
}
