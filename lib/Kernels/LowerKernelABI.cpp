//===- LowerKernelABI.cpp - what a kernel is called with ------------------===//
//
// Kernels run inside executables that know no assertions and no results. Both
// become arguments here.
//
//===----------------------------------------------------------------------===//

#include "CLibrary.h"
#include "Roles.h"
#include "ThreadPlan.h"
#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "mlir/Transforms/RegionUtils.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_LOWERKERNELABIPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

static bool isBoolBuffer(Type type) {
  auto buffer = dyn_cast<MemRefType>(type);
  return buffer && buffer.getElementType().isInteger(1);
}

static MemRefType withBytes(Type type) {
  auto buffer = cast<MemRefType>(type);
  Type byte = IntegerType::get(type.getContext(), 8);
  return MemRefType::get(buffer.getShape(), byte, buffer.getLayout(),
                         buffer.getMemorySpace());
}

/// Gives each element of a buffer of bools a byte: packed bits are what the
/// code generator makes of i1, and not what the caller has.
static LogicalResult widenBools(ModuleOp module) {
  for (auto global : module.getOps<memref::GlobalOp>()) {
    global.removeAlignmentAttr(); // newer versions of MLIR write it otherwise
    if (!isBoolBuffer(global.getType()))
      continue;
    global.setType(withBytes(global.getType()));
    auto values =
        dyn_cast_or_null<DenseElementsAttr>(global.getInitialValueAttr());
    if (!values)
      return global.emitError("unsupported: bools of no known value");
    Type byte = IntegerType::get(module.getContext(), 8);
    global.setInitialValueAttr(values.mapValues(
        byte, [](const APInt &value) { return value.zext(8); }));
  }
  WalkResult result = module.walk([&](Operation *op) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    Type byte = builder.getI8Type();
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      if (load.getResult().getType().isInteger(1)) {
        auto wide = memref::LoadOp::create(builder, loc, byte, load.getMemRef(),
                                           load.getIndices());
        load.replaceAllUsesWith(
            arith::TruncIOp::create(builder, loc, builder.getI1Type(), wide)
                .getResult());
        load.erase();
      }
      return WalkResult::advance();
    }
    if (auto load = dyn_cast<vector::LoadOp>(op)) {
      if (load.getVectorType().getElementType().isInteger(1)) {
        auto wide = vector::LoadOp::create(
            builder, loc, load.getVectorType().cloneWith({}, byte),
            load.getBase(), load.getIndices());
        load.replaceAllUsesWith(
            arith::TruncIOp::create(builder, loc, load.getVectorType(), wide)
                .getResult());
        load.erase();
      }
      return WalkResult::advance();
    }
    if (auto store = dyn_cast<memref::StoreOp>(op)) {
      if (store.getValue().getType().isInteger(1))
        store.getValueMutable().assign(
            arith::ExtUIOp::create(builder, loc, byte, store.getValue()));
      return WalkResult::advance();
    }
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument arg : block.getArguments())
          if (isBoolBuffer(arg.getType()))
            arg.setType(withBytes(arg.getType()));
    for (OpResult value : op->getResults())
      if (isBoolBuffer(value.getType()))
        value.setType(withBytes(value.getType()));
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Removes the blocks that are never entered, after constants have been
/// propagated: what is behind a check that always fails. A loop in there has no
/// way in, so that its counter is computed from itself, which patterns that
/// fold constants do for ever.
static void removeUnreachableBlocks(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  for (Block &block : function.getBody()) {
    auto branch = dyn_cast<cf::CondBranchOp>(block.getTerminator());
    APInt taken;
    if (!branch || !matchPattern(branch.getCondition(), m_ConstantInt(&taken)))
      continue;
    rewriter.setInsertionPoint(branch);
    if (taken.isOne())
      rewriter.replaceOpWithNewOp<cf::BranchOp>(branch, branch.getTrueDest(),
                                                branch.getTrueDestOperands());
    else
      rewriter.replaceOpWithNewOp<cf::BranchOp>(branch, branch.getFalseDest(),
                                                branch.getFalseDestOperands());
  }
  (void)eraseUnreachableBlocks(rewriter, function->getRegions());
}

static int64_t getPosition(func::CallOp note) {
  IntegerAttr position;
  bool isConstant = matchPattern(note.getOperand(0), m_Constant(&position));
  assert(isConstant && "the position of a number that is noted");
  (void)isConstant;
  return position.getInt();
}

int64_t ssa_compiler::countNotes(func::FuncOp function) {
  int64_t count = 0;
  function.walk([&](func::CallOp call) {
    if (isNote(call))
      count = std::max(count, getPosition(call) + 1);
  });
  return count;
}

namespace {
/// Lowers one function.
class Lowering {
public:
  explicit Lowering(func::FuncOp function)
      : function(function), builder(function.getContext()) {}

  void run() {
    Block &entry = function.getBody().front();
    for (unsigned k = 0; k < function.getNumArguments(); ++k)
      if (getRole(function, k).empty())
        setRole(function, k, "output");
    unsigned scalars = function.getNumResults();
    bool checks =
        function.walk([](cf::AssertOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    for (BlockArgument argument : entry.getArguments())
      if (getRole(function, argument.getArgNumber()) == "status")
        status = argument;
    functions = countCFunctions(function);
    bool isNew = !status && (checks || scalars != 0 || functions != 0);
    if (isNew)
      status = entry.addArgument(getStatusType(function, scalars),
                                 function.getLoc());
    if (function->hasAttr(kThreads))
      findFirstThread();
    notes = countNotes(function);
    function->setAttr(kNotes, builder.getI64IntegerAttr(notes));
    finishScalars();
    storeNotes();
    lowerCFunctions(function, status);
    stopAtAssertions();
    if (function->hasAttr(kThreads)) {
      nameRegisters();
      if (getWorkgroups(function) > 1)
        waitForWorkgroups(function, threadInGroup);
    } else {
      keepDenormals();
    }
    SmallVector<Type> types(entry.getArgumentTypes());
    SmallVector<DictionaryAttr> attributes;
    for (unsigned k = 0; k < function.getNumArguments(); ++k)
      attributes.push_back(function.getArgAttrDict(k));
    attributes.resize(types.size(), DictionaryAttr::get(builder.getContext()));
    function.removeResAttrsAttr();
    function.setType(builder.getFunctionType(types, {}));
    function.setAllArgAttrs(attributes);
    if (isNew)
      setRole(function, status.getArgNumber(), "status");
    function->setAttr("kernel.messages", builder.getArrayAttr(messages));
  }

private:
  void storeStatus(Location loc, int64_t slot, Value value) {
    if (!status)
      return;
    Value index = arith::ConstantIndexOp::create(builder, loc, slot);
    memref::StoreOp::create(builder, loc, value, status, index);
  }

  /// Finds out whether a thread is the first one of all.
  void findFirstThread() {
    builder.setInsertionPointToStart(&function.getBody().front());
    Location loc = function.getLoc();
    Value thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
    threadInGroup =
        arith::IndexCastOp::create(builder, loc, builder.getI32Type(), thread);
    if (getWorkgroups(function) > 1)
      thread = arith::OrIOp::create(
          builder, loc, thread,
          gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x));
    isFirst =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, thread,
                              arith::ConstantIndexOp::create(builder, loc, 0));
  }

  /// Goes on in a block that only the first thread runs, and returns one behind
  /// it for all. On the CPU nothing is to be done.
  Block *enterFirst(Location loc) {
    if (!isFirst)
      return nullptr;
    Region &body = function.getBody();
    Block *block = builder.getInsertionBlock();
    Block *behind = builder.getInsertionPoint() == block->end()
                        ? builder.createBlock(&body, body.end())
                        : block->splitBlock(builder.getInsertionPoint());
    Block *alone = builder.createBlock(&body, body.end());
    builder.setInsertionPointToEnd(block);
    cf::CondBranchOp::create(builder, loc, isFirst, alone, ValueRange(), behind,
                             ValueRange());
    builder.setInsertionPointToEnd(alone);
    return behind;
  }

  void leaveFirst(Location loc, Block *behind) {
    if (!behind)
      return;
    cf::BranchOp::create(builder, loc, behind);
    builder.setInsertionPointToStart(behind);
  }

  /// Stores the status of success and the scalar results.
  void finishScalars() {
    SmallVector<func::ReturnOp> returns;
    function.walk([&](func::ReturnOp op) { returns.push_back(op); });
    for (func::ReturnOp op : returns) {
      builder.setInsertionPoint(op);
      Location loc = op.getLoc();
      Type i64 = builder.getI64Type();
      Block *behind = status ? enterFirst(loc) : nullptr;
      storeStatus(loc, kFailure,
                  arith::ConstantIntOp::create(builder, loc, i64, 0));
      for (auto [k, value] : llvm::enumerate(op.getOperands())) {
        Value bits = value;
        if (value.getType().isF64())
          bits = arith::BitcastOp::create(builder, loc, i64, value);
        else if (value.getType().isF32())
          bits = arith::ExtUIOp::create(
              builder, loc, i64,
              arith::BitcastOp::create(builder, loc, builder.getI32Type(),
                                       value));
        else if (value.getType() != i64)
          bits = arith::ExtUIOp::create(builder, loc, i64, value);
        storeStatus(loc, kFirstScalar + k, bits);
      }
      leaveFirst(loc, behind);
      func::ReturnOp::create(builder, loc);
      op.erase();
    }
  }

  /// Stores the numbers of messages behind the scalars in the status.
  void storeNotes() {
    SmallVector<func::CallOp> calls;
    function.walk([&](func::CallOp op) {
      if (isNote(op))
        calls.push_back(op);
    });
    for (func::CallOp op : calls) {
      builder.setInsertionPoint(op);
      storeStatus(op.getLoc(), countScalarWords() + getPosition(op),
                  op.getOperand(1));
      op.erase();
    }
  }

  /// The words of the status up to those for the numbers of messages and the
  /// addresses of functions.
  int64_t countScalarWords() {
    return cast<MemRefType>(status.getType()).getDimSize(0) - functions - notes;
  }

  /// Lets assertions that fail branch to one block, which stores their number.
  void stopAtAssertions() {
    SmallVector<cf::AssertOp> assertions;
    function.walk([&](cf::AssertOp op) { assertions.push_back(op); });
    if (assertions.empty())
      return;
    Block *failed = createExit(), *stopped = nullptr;
    for (cf::AssertOp op : assertions) {
      Location loc = op.getLoc();
      Block *block = op->getBlock();
      Block *rest = block->splitBlock(op);
      if (op.getMsg() == kStopped) {
        if (!stopped) {
          Region &body = function.getBody();
          stopped = builder.createBlock(&body, body.end());
          func::ReturnOp::create(builder, loc);
        }
        builder.setInsertionPointToEnd(block);
        cf::CondBranchOp::create(builder, loc, op.getArg(), rest, ValueRange(),
                                 stopped, ValueRange());
        op.erase();
        continue;
      }
      messages.push_back(op.getMsgAttr());
      builder.setInsertionPointToEnd(block);
      Value number = arith::ConstantIntOp::create(
          builder, loc, builder.getI64Type(), messages.size());
      cf::CondBranchOp::create(builder, loc, op.getArg(), rest, ValueRange(),
                               failed, number);
      op.erase();
    }
  }

  /// The block that ends a kernel whose check failed. What it has not computed
  /// may be used before the host has read the status: integers become 0, which
  /// is no index outside of a tensor.
  Block *createExit() {
    Location loc = function.getLoc();
    Region &body = function.getBody();
    Block *failed =
        builder.createBlock(&body, body.end(), {builder.getI64Type()}, {loc});
    // Other threads may write results still; if the first one alone has failed,
    // they wait for it at a barrier of theirs.
    if (function->hasAttr(kThreads))
      gpu::BarrierOp::create(builder, loc);
    Block *behind = enterFirst(loc);
    storeStatus(loc, kFailure, failed->getArgument(0));
    Value zero =
        arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), 0);
    for (int64_t slot = kFirstScalar; slot < countScalarWords(); ++slot)
      storeStatus(loc, slot, zero);
    leaveFirst(loc, behind);
    if (getWorkgroups(function) > 1) { // a whole program: nobody looks at more
      func::ReturnOp::create(builder, loc);
      return failed;
    }
    for (BlockArgument argument :
         body.getArguments().take_front(function.getNumArguments())) {
      auto type = dyn_cast<MemRefType>(argument.getType());
      if (type && getRole(function, argument.getArgNumber()) == "output" &&
          isa<IntegerType>(type.getElementType()))
        fillWithZeros(loc, argument, type);
    }
    func::ReturnOp::create(builder, loc);
    return failed;
  }

  /// Fills a contiguous buffer, and goes on in a block behind.
  void fillWithZeros(Location loc, Value buffer, MemRefType type) {
    Region &body = function.getBody();
    auto index = [&](int64_t number) -> Value {
      return arith::ConstantIndexOp::create(builder, loc, number);
    };
    Value first = index(0), one = index(1), end = one;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      Value size = memref::DimOp::create(builder, loc, buffer, index(dim));
      end = arith::MulIOp::create(builder, loc, end, size);
    }
    auto flatType =
        MemRefType::get({ShapedType::kDynamic}, type.getElementType());
    Value flat = memref::ReinterpretCastOp::create(
        builder, loc, flatType, buffer, /*offset=*/builder.getIndexAttr(0),
        ArrayRef<OpFoldResult>{end},
        ArrayRef<OpFoldResult>{builder.getIndexAttr(1)});
    Value element = arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(type.getElementType()));
    Block *before = builder.getInsertionBlock();
    Block *head =
        builder.createBlock(&body, body.end(), {builder.getIndexType()}, {loc});
    Value place = head->getArgument(0);
    Value more = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       place, end);
    Block *loop = builder.createBlock(&body, body.end());
    memref::StoreOp::create(builder, loc, element, flat, place);
    Value next = arith::AddIOp::create(builder, loc, place, one);
    cf::BranchOp::create(builder, loc, head, next);
    Block *behind = builder.createBlock(&body, body.end());
    builder.setInsertionPointToEnd(before);
    cf::BranchOp::create(builder, loc, head, first);
    builder.setInsertionPointToEnd(head);
    cf::CondBranchOp::create(builder, loc, more, loop, ValueRange(), behind,
                             ValueRange());
    builder.setInsertionPointToEnd(behind);
  }

  /// What hides products of Python floats from the code generator names the
  /// registers of x86-64.
  void nameRegisters() {
    function.walk([&](LLVM::InlineAsmOp op) {
      if (op->getNumResults() == 1)
        op.setConstraints(op->getResult(0).getType().isF64() ? "=d,0" : "=f,0");
    });
  }

  /// Lets floating-point units compute with denormal numbers, which IREE's
  /// runtime has switched off, until the kernel returns.
  void keepDenormals() {
    Location loc = function.getLoc();
    builder.setInsertionPointToStart(&function.getBody().front());
    // What the control word was, and what it becomes.
    auto words = memref::AllocaOp::create(
        builder, loc, MemRefType::get({2}, builder.getI32Type()));
    Value place =
        memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, words);
    place =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), place);
    auto assemble = [&](TypeRange results, Value operand, StringRef text,
                        StringRef constraints) {
      return LLVM::InlineAsmOp::create(
          builder, loc, results, operand, text, constraints,
          /*has_side_effects=*/true, /*is_align_stack=*/false,
          LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
    };
    auto run = [&](StringRef text) {
      assemble(TypeRange(), place, text,
               "r,~{memory},~{dirflag},~{fpsr},~{flags}");
    };
    // 0x8040: flush to zero, denormals are zero.
    run("stmxcsr ($0)\nstmxcsr 4($0)\nandl $$-32833, 4($0)\nldmxcsr 4($0)");
    // LLVM may move what it computes of registers in front of the assembly,
    // which is ordered with other assembly only.
    for (BlockArgument argument : function.getArguments()) {
      if (!isa<FloatType>(argument.getType()) || argument.use_empty())
        continue;
      auto pinned = assemble(argument.getType(), argument, "", "=x,0");
      argument.replaceAllUsesExcept(pinned.getResult(0), pinned);
    }
    function.walk([&](func::ReturnOp op) {
      builder.setInsertionPoint(op);
      run("ldmxcsr ($0)");
    });
  }

  func::FuncOp function;
  OpBuilder builder;
  BlockArgument status;
  SmallVector<Attribute> messages;
  /// How many numbers the longest message has.
  int64_t notes = 0;
  /// How many functions of the C library are called.
  int64_t functions = 0;
  /// On a GPU: whether a thread is the first one, and its number in its group.
  Value isFirst, threadInGroup;
};

struct LowerKernelABIPass
    : public ssa_compiler::impl::LowerKernelABIPassBase<LowerKernelABIPass> {
  using LowerKernelABIPassBase::LowerKernelABIPassBase;

  void runOnOperation() override {
    if (failed(widenBools(getOperation())))
      return signalPassFailure();
    // The code generator knows no other sizes.
    WalkResult known = getOperation()->walk([](memref::DimOp op) {
      auto source = dyn_cast<BlockArgument>(op.getSource());
      if (source && source.getOwner()->isEntryBlock())
        return WalkResult::advance();
      op.emitError("unsupported: a size that was not resolved");
      return WalkResult::interrupt();
    });
    if (known.wasInterrupted())
      return signalPassFailure();
    func::FuncOp noted;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.getName() == kNote) {
        noted = function;
        continue;
      }
      auto form = function->getAttrOfType<StringAttr>("kernel.form");
      if (form && form.getValue() == "sizes")
        continue;
      Lowering(function).run();
      OpPassManager constants(func::FuncOp::getOperationName());
      constants.addPass(createSCCPPass());
      if (failed(runPipeline(constants, function)))
        return signalPassFailure();
      removeUnreachableBlocks(function);
    }
    if (noted)
      noted.erase();
  }
};
} // namespace
