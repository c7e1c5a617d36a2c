//===- ResultsToOutputs.cpp - results in buffers of the caller ------------===//

#include "EntryNumbers.h"
#include "Roles.h"
#include "ssa-compiler/Kernels/Passes.h"
#include "ssa-compiler/Support/SourceLocation.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_RESULTSTOOUTPUTSPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

namespace {
struct ResultsToOutputsPass
    : public ssa_compiler::impl::ResultsToOutputsPassBase<
          ResultsToOutputsPass> {
  using ResultsToOutputsPassBase::ResultsToOutputsPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    Block &entry = function.getBody().front();
    auto yielded = cast<func::ReturnOp>(entry.getTerminator());
    SmallVector<Value> scalars, places, sizes;
    SmallVector<int64_t> placed;
    SmallPtrSet<Value, 4> inWorkspace;
    EntryNumbers known(function);
    SmallVector<DictionaryAttr> attributes;
    for (unsigned k = 0; k < function.getNumArguments(); ++k)
      attributes.push_back(function.getArgAttrDict(k));
    for (auto [number, value] : llvm::enumerate(yielded.getOperands())) {
      auto type = dyn_cast<MemRefType>(value.getType());
      if (!type) {
        scalars.push_back(value);
        continue;
      }
      if (auto written = getWrittenArgument(function, number)) {
        if (value == entry.getArgument(*written))
          continue;
        yielded.emitError("unsupported: new contents of an argument that are "
                          "not in its buffer");
        return signalPassFailure();
      }
      if (function.getResultAttr(number, "tssa.alias_of") ||
          function.getResultAttr(number, "tssa.same_as"))
        continue;
      auto made = value.getDefiningOp<memref::AllocOp>();
      if (made && made->getBlock() != &entry)
        made = nullptr;
      SmallVector<Value> wanted =
          made ? SmallVector<Value>(made.getDynamicSizes())
               : sizesOf(value, yielded);
      OpBuilder builder(yielded);
      Location loc = yielded.getLoc();
      if (hostBuffers &&
          !llvm::all_of(wanted, [&](Value size) { return known.add(size); })) {
        Value buffer = value;
        if (!made || !inWorkspace.insert(value).second) {
          buffer = memref::AllocOp::create(builder, loc, type, wanted);
          memref::CopyOp::create(builder, loc, withoutCasts(value), buffer);
        }
        placed.push_back(number);
        places.push_back(memref::ExtractAlignedPointerAsIndexOp::create(
            builder, loc, buffer));
        llvm::append_range(places, wanted);
        continue;
      }
      BlockArgument output = entry.addArgument(type, function.getLoc());
      attributes.push_back(DictionaryAttr::get(&getContext()));
      llvm::append_range(sizes, wanted);
      if (made) {
        assertSizes(made, output, wanted);
        value.replaceAllUsesWith(output); // also where it is returned again
        made.erase();
        continue;
      }
      assertSizes(yielded, output, wanted);
      memref::CopyOp::create(builder, loc, withoutCasts(value), output);
    }
    OpBuilder builder(yielded);
    for (Value number : places)
      scalars.push_back(arith::IndexCastOp::create(
          builder, yielded.getLoc(), builder.getI64Type(), number));
    llvm::append_range(scalars, sizes);
    yielded->setOperands(scalars);
    function->setAttr("kernel.sizes", builder.getI64IntegerAttr(sizes.size()));
    if (!placed.empty())
      function->setAttr("kernel.placed", builder.getDenseI64ArrayAttr(placed));
    function.removeResAttrsAttr();
    function.setType(FunctionType::get(&getContext(), entry.getArgumentTypes(),
                                       ValueRange(scalars).getTypes()));
    function.setAllArgAttrs(attributes);
  }

private:
  /// A result that is a slice from offset 0 has a cast to the type of a whole
  /// buffer: bufferization takes dynamic strides for those of any.
  static Value withoutCasts(Value buffer) {
    while (auto cast = buffer.getDefiningOp<memref::CastOp>())
      buffer = cast.getSource();
    return buffer;
  }

  /// The dynamic sizes of a buffer.
  static SmallVector<Value> sizesOf(Value buffer, Operation *before) {
    OpBuilder builder(before);
    auto type = cast<MemRefType>(buffer.getType());
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        sizes.push_back(
            memref::DimOp::create(builder, before->getLoc(), buffer, dim));
    return sizes;
  }

  /// Asserts that a result has the sizes that it is to have: the host gives it
  /// none if it would be too large. What is as long as an input is not.
  static void assertSizes(Operation *before, Value output, ValueRange wanted) {
    OpBuilder builder(before);
    if (wanted.size() == 1)
      if (auto size = wanted.front().getDefiningOp<memref::DimOp>())
        if (isa<BlockArgument>(size.getSource()))
          return;
    for (auto [size, given] : llvm::zip(wanted, sizesOf(output, before))) {
      Value same = arith::CmpIOp::create(builder, before->getLoc(),
                                         arith::CmpIPredicate::eq, size, given);
      cf::AssertOp::create(
          builder, before->getLoc(), same,
          withSourceLine("RuntimeError: not enough memory for a tensor",
                         before->getLoc()));
    }
  }
};
} // namespace
