//===- Passes.td - passes that make kernels --------------------*- tablegen -*-===//
//
// From a function of the linalg stage to one native kernel: which functions can
// be one, what is in place in them, and what is left of them for a code
// generator that knows neither tensors nor assertions (docs/Kernels.md).
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_KERNELS_PASSES_TD
#define SSA_COMPILER_KERNELS_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerTMTensorPass : Pass<"lower-tm-tensor", "::mlir::func::FuncOp"> {
  let summary = "[kernels] lower torch-mlir's scans and scatters to loops";
  let description = [{
    torch-mlir lowers running sums and writes at indices to ops of a dialect of its
    own, which has no lowering for tensors. `tm_tensor.scan` and `tm_tensor.scatter`,
    in generic form, on tensors of any shape become loops that extract and insert
    one number at a time, in the order of eager PyTorch: of equal indices the last
    counts. Indices are in range, as the program checks them before.

    ```mlir
    %r = scf.for %n = %c0 to %c300 step %c1 iter_args(%t = %original) -> (tensor<9xf32>) {
      %i = tensor.extract %indices[%n, %c0] : tensor<300x1xi64>
      %x = tensor.extract %updates[%n] : tensor<300xf32>
      %place = arith.index_cast %i : i64 to index
      %next = tensor.insert %x into %t[%place] : tensor<9xf32>
      scf.yield %next : tensor<9xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

def LinkKernelLibraryPass : Pass<"link-kernel-library", "::mlir::ModuleOp"> {
  let summary = "[kernels] inline the library functions that a module declares";
  let description = [{
    Ops that loops over numbers do better than a sequence of tensor ops, such as
    sorting, are calls of functions `@ssa_compiler.*`, written for kernels in
    `lib/Kernels/Library`. The pass puts their bodies, on tensors of dynamic sizes, in
    place of the calls. A function that is declared and not in the library is an
    error.

    A function `@ssa_compiler.op.<name>` is the op `<name>`: torch-mlir does not know
    the dialects of all ops on numbers, and passes calls on as they are.

    With `parallel`, a function whose name ends in `.parallel` takes the place of the one
    without: tensor ops that many threads share, instead of loops over numbers.

    ```mlir
    func.func private @ssa_compiler.order(tensor<?x?xi64>) -> tensor<?x?xi64>
    ```
  }];
  let options = [
    Option<"parallel", "parallel", "bool", "false", "Many threads run the kernel">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def FormKernelsPass : Pass<"form-kernels", "::mlir::ModuleOp"> {
  let summary = "[kernels] annotate the functions that can be one kernel";
  let description = [{
    A function becomes a kernel if it consists of upstream ops on ranked tensors
    only, whose sizes may be dynamic, if the math functions in it are as exact in a kernel as elsewhere,
    and if nothing in it is large enough that code generated for that op alone is
    quicker. Such a function gets the attribute `kernel.form = "kernel"`; any other
    gets `kernel.reason`, which says why not. One for a GPU gets `kernel.workgroups` if more
    than one is to run it: its ops are so large that they save more than barriers cost.

    Before, concatenations become insertions, selects of tensors of dynamic sizes
    branches, and arguments that stand for constants
    (`kernel.constant`), which torch-mlir was not to compute with, become these. In
    kernels, divisions that would end the process divide by 1: the program's own
    checks raise for a divisor of 0. With `c-library`, functions that executables
    have no code for, and those that Python computes with, are annotated with the
    function of the C library that is to compute them (`kernel.c_function`), and the
    kernel with all of these (`kernel.c_functions`). More than 4,096 floats of
    single precision, or a dynamic number, are added up or multiplied in double
    precision, as they are one after the other.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
  let options = [
    Option<"maxProducts", "max-products", "int64_t", "65536",
           "The most multiplications of one contraction that uses the elements of its operands often; larger ones are left to the tiled kernels of the backend">,
    Option<"maxTiledProducts", "max-tiled-products", "int64_t", "33554432",
           "Likewise of products of matrices and convolutions that are computed in tiles of registers, of operands that fit the cache">,
    Option<"maxWindowProducts", "max-window-products", "int64_t", "16777216",
           "Likewise of other convolutions and pooling, for which the backend has no tiled kernels">,
    Option<"maxReuse", "max-reuse", "int64_t", "4",
           "How often a larger contraction may use the elements of its largest operand: a row times a matrix uses them once, and waits for memory">,
    Option<"minLaunches", "min-launches", "int64_t", "3",
           "The fewest ops that compute in a function with assertions or scalar results, which cost a look at the status">,
    Option<"maxOps", "max-ops", "int64_t", "6000",
           "The most ops, as compile time grows with them">,
    Option<"workgroups", "workgroups", "int64_t", "0",
           "The most workgroups of a GPU that run the kernel, 0 on the CPU: ops with more work are left to kernels that the whole GPU runs">,
    Option<"cLibrary", "c-library", "bool", "false",
           "The caller passes the addresses of functions of the C library, which a kernel may then call">
  ];
}

def UseAssertedEqualitiesPass
    : Pass<"use-asserted-equalities", "::mlir::func::FuncOp"> {
  let summary = "[kernels] replace values that an assertion says are equal by one of them";
  let description = [{
    torch-mlir asserts that dynamic sizes of operands are equal and takes that of the
    first for the result. Behind `cf.assert` of `arith.cmpi eq` one of the two values
    stands for both: a constant, else the one defined first. Bufferization
    sees then that a tensor keeps its size, and further assertions of the same fold
    away.

    ```mlir
    %same = arith.cmpi eq, %m, %n : index
    cf.assert %same, "mismatched size for broadcast"
    %e = tensor.empty(%n) : tensor<?xf32>        // becomes tensor.empty(%m)
    ```
  }];
}

def HoistAssertsPass : Pass<"hoist-asserts", "::mlir::func::FuncOp"> {
  let summary = "[kernels] check indices before anything that may use them";
  let description = [{
    Moves each `cf.assert` up in its block, with the arithmetic on numbers that its
    condition is computed from: behind the values that this starts with, and behind
    other assertions and loops that may fail or not end. As long as tensors are
    values that changes nothing. Later an op that stands in front of the check of an index, as it
    computes what is stored there, may write the row itself.

    ```mlir
    %row = linalg.generic ...
    cf.assert %in_range, "IndexError: ..."
    %y = tensor.insert_slice %row into %x[%i, 0] ...
    // becomes
    cf.assert %in_range, "IndexError: ..."
    %row = linalg.generic ...
    ```
  }];
}

def SimplifyIndicesPass : Pass<"simplify-indices", "::mlir::ModuleOp"> {
  let summary = "[kernels] make plain sums of indices that need no clamping";
  let description = [{
    A maximum, a minimum or a remainder of which the ranges of integers say the result
    is replaced by that operand. Sums and products of 64-bit integers that are used as indices
    are computed as indices. What is left of the offset of `x[i - 1]` in a loop is the
    loop's variable and a constant: bufferization sees that this row is not `x[i]`,
    and copies neither.

    ```mlir
    %wide = arith.index_cast %i : index to i64       // i in [1, 200)
    %before = arith.subi %wide, %one : i64
    %above = arith.maxsi %before, %zero : i64
    %row = arith.index_cast %above : i64 to index
    // becomes
    %row = arith.subi %i, %c1 : index
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def FoldSlicesPass : Pass<"fold-slices", "::mlir::func::FuncOp"> {
  let summary = "[kernels] make one op of slices of slices";
  let description = [{
    A slice of a slice, and a slice of which dimensions of one element are dropped,
    become one op each, and so do insertions of insertions. Bufferization copies
    what it cannot see through.

    ```mlir
    %row = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<1x4xf32>
    %flat = tensor.collapse_shape %row [[0, 1]] : tensor<1x4xf32> into tensor<4xf32>
    // becomes
    %flat = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
    ```

    A slice of dynamic sizes that drops some of its dimensions of one element and
    keeps others is split again: MLIR would confuse them as views of buffers.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def YieldInPlacePass : Pass<"yield-in-place", "::mlir::ModuleOp"> {
  let summary = "[kernels] give loops and branches the buffers that bufferization asks for";
  let description = [{
    One-Shot Bufferize wants each tensor that a loop yields to be in the buffer of
    the loop's argument. Where its analysis finds another buffer, the pass copies
    the tensor there (`bufferization.materialize_in_destination`); tensors that
    change places are copied to temporaries first, and of tensors that begin as one
    tensor all but one are copied. A branch whose arms end in
    different buffers ends in that of a tensor from outside, if one arm leaves it as
    it is and the other may write there; else in a new one in front of it, into which
    both arms copy. Results that are new contents of arguments (`tssa.writeback`) end
    in the arguments' buffers. A `scf.while` passes on its tensors first, each in the place of the argument
    whose buffer it is in. The analysis runs again after each change, until it
    agrees. A tensor whose size may change from trip to trip is an error.

    ```mlir
    %r = scf.for ... iter_args(%x = %init) -> (tensor<4xf32>) {
      %y = linalg.generic ins(%x, ...)       // reads %x after it would be overwritten
      %z = bufferization.materialize_in_destination %y in %x : ...
      scf.yield %z : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def FuseElementwisePass : Pass<"fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "[kernels] fuse elementwise linalg ops with what uses them, unless it would compute them again";
  let description = [{
    Does what `--linalg-fuse-elementwise-ops` does, but leaves an op alone whose user
    asks for each element several times: a row times a matrix would compute the row
    again for each column. An op whose results are several operands of one user is
    fused as well.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect"
  ];
}

def FuseIntoLoopsPass : Pass<"fuse-into-loops", "::mlir::func::FuncOp"> {
  let summary = "[kernels] compute elements in the loop over numbers that reads them";
  let description = [{
    A running sum, a scatter or a search is a loop that reads its operands element by
    element (`tensor.extract`). If an elementwise `linalg.generic` makes such an operand,
    has no other user, and each element is read at most once, the loop computes it, and no
    tensor is made.

    ```mlir
    %wide = linalg.generic ... ins(%x : tensor<8xf32>) { arith.extf ... } -> tensor<8xf64>
    %sum = scf.for %i = ... {
      %n = tensor.extract %wide[%i] : tensor<8xf64>
    // becomes
    %sum = scf.for %i = ... {
      %element = tensor.extract %x[%i] : tensor<8xf32>
      %n = arith.extf %element : f32 to f64
    ```

    An op stays where it is if the loop may overwrite what it reads.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

def MergeSiblingsPass : Pass<"merge-siblings", "::mlir::func::FuncOp"> {
  let summary = "[kernels] merge elementwise linalg ops that read the same elements into one op";
  let description = [{
    Two elementwise `linalg.generic` of one block that read an operand in the same way
    and do not depend on each other become one op with the results of both, at the
    place of the later one: the operand is read once, and what only the two of them use
    can be fused with them (`--fuse-elementwise`). Ops in between that use the results
    of the earlier one move behind it if they have no effects; nothing moves in front
    of an assertion. An op stays where it is if an operand of it may be overwritten
    before the other one.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def ReorderLoopsPass : Pass<"reorder-linalg-loops", "::mlir::func::FuncOp"> {
  let summary = "[kernels] make the innermost loop of linalg ops one that walks along memory";
  let description = [{
    Chooses, for each `linalg.generic`, which dimension its innermost loop runs
    over: the one along which the most operands are contiguous or constant, results
    before others, a parallel one if there are several. Of an op that reduces, the
    dimensions that the largest operand does not have come just before it, so that
    a matrix is read once. The order of the others stays. What is added up for one
    result is added in the same order as before.
  }];
}

def CollapseLoopsPass : Pass<"collapse-linalg-loops", "::mlir::func::FuncOp"> {
  let summary = "[kernels] walk over contiguous dimensions of buffers with one loop";
  let description = [{
    Neighbouring dimensions of a `linalg.generic` on buffers become one where all
    operands have both or none of them, and the buffers are contiguous; those of one
    element are dropped. LLVM vectorizes the innermost loop, which is short where the
    last dimension is: of a row of 21 numbers, five are left over. The order of all
    steps stays.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def LinalgToLoopsPass : Pass<"linalg-to-loops", "::mlir::func::FuncOp"> {
  let summary = "[kernels] turn linalg ops on buffers into loops that keep numbers in registers";
  let description = [{
    Does what `--convert-linalg-to-loops` does; an operand that is read at one place in
    all trips of the innermost loop is read in front of it, and a result that is
    computed there is carried around it and stored once. LLVM does not know that
    an operand is not the result, so it would load and store them in each trip, and
    vectorizes less. Sums, maxima and minima of floats that lie side by side, and what
    holds for all or any of some bools, are computed in the lanes of vectors
    (`ReduceInLanes.h`): LLVM may not change the order of sums. Products of matrices
    and convolutions are computed in tiles of registers (`ReduceInTiles.h`).
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def DistributeToThreadsPass : Pass<"distribute-to-threads", "::mlir::func::FuncOp"> {
  let summary = "[kernels] run a kernel in one workgroup of a GPU";
  let description = [{
    All threads take the same way through loops and branches. The iterations of a linalg
    op on buffers are distributed over them: each thread computes every N-th result,
    neighbours side by side in memory. A reduction along memory is shared by the threads of
    a warp, which exchange what they have (`gpu.shuffle`); one of few results is cut into
    parts, which are combined in the end. Sums of floats depend on the number of threads.

    What is computed of numbers only is computed by all threads. Stores of numbers, and
    loops and branches that store and have no linalg op in them, are for the first thread;
    their results go through memory to the others. If an assertion fails there, the others
    stop as well.

    A function with `kernel.workgroups` runs in so many workgroups, whose threads wait for
    each other by counting in the first bytes of the workspace, where all of the kernel's
    scratch memory is then.

    `gpu.barrier` stands in front of what accesses a buffer that other threads may have
    accessed since the last barrier, one of the two writing, unless each thread
    accesses the same elements in both, as in two elementwise ops of the same sizes.
    The function gets `kernel.threads`.

    ```mlir
    linalg.generic ... ins(%x : memref<320xf32>) outs(%y : memref<320xf32>)
    // becomes
    %t = gpu.thread_id x
    scf.for %i = %t to %c320 step %c256 { ... }
    ```
  }];
  let options = [
    Option<"threads", "threads", "int64_t", "256", "Threads of the workgroup: a power of two, at least 32">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"
  ];
}

def ComputeInDestinationPass : Pass<"compute-in-destination", "::mlir::ModuleOp"> {
  let summary = "[kernels] let ops compute where their results are inserted";
  let description = [{
    Eliminates empty tensors as `--eliminate-empty-tensors` of MLIR does: an op whose
    result is inserted into a tensor, or returned by a loop, writes there. An op that
    reads another part of the same tensor would have to read a copy then; such an
    op gets an empty tensor again, and `--forward-copies` looks at it as it was
    bufferised.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::tensor::TensorDialect"];
}

def ForwardCopiesPass : Pass<"forward-copies", "::mlir::func::FuncOp"> {
  let summary = "[kernels] let ops compute where their results are copied";
  let description = [{
    A buffer that one elementwise op fills, and that is only copied elsewhere after it,
    perhaps with its dimensions grouped (`memref.collapse_shape`), is not needed if
    nothing in between touches the target's buffer, and if the op reads of that buffer
    nothing but parts that do not overlap the target, or the very elements that it
    overwrites. `x[i] = x[i] * x[i - 1]` is one pass over a row. Of an op with several
    results each may be computed where it is copied.

    ```mlir
    linalg.generic ins(%row, %above) outs(%new)
    memref.copy %new, %row
    // becomes
    linalg.generic ins(%row, %above) outs(%row)
    ```

    Copies of a view to itself are erased.
  }];
}

def DropCarriedBuffersPass : Pass<"drop-carried-buffers", "::mlir::func::FuncOp"> {
  let summary = "[kernels] let loops use the buffers that they begin with";
  let description = [{
    A buffer that a loop carries is that which it begins with: what the loop yields
    can be in the same buffer, or bufferization would have rejected it. Its uses in the
    loop and behind it become uses of the latter. The code generator does not
    follow buffers around loops.

    What can be there is not always: the shape of a buffer with dynamic strides
    cannot be collapsed, so that bufferization collapses a copy, though its analysis
    found the result to be in place. Such a yield is copied into the buffer.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def ResolveSizesPass : Pass<"resolve-buffer-sizes", "::mlir::func::FuncOp"> {
  let summary = "[kernels] compute the sizes of buffers from those of what they are views of";
  let description = [{
    `memref.dim`, and sizes that `memref.extract_strided_metadata` returns, of views
    and allocations become arithmetic on numbers and on sizes of arguments.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def ResultsToOutputsPass : Pass<"results-to-outputs", "::mlir::func::FuncOp"> {
  let summary = "[kernels] make arguments of the buffers that a kernel returns";
  let description = [{
    An allocation that is returned becomes an argument; another buffer is copied to
    one. Results that are an argument's new contents (`tssa.writeback`) are in its
    buffer already (`--yield-in-place`) and are dropped, and so are those that the
    caller has under another name (`tssa.alias_of`, `tssa.same_as`). Returned are, behind the
    numbers among the results, the dynamic sizes of these buffers; `kernel.sizes` of
    the function counts them. A result asserts that it got the sizes that it is to
    have: the host gives it none if it would be too large.

    ```mlir
    func.func @main(%x: memref<?xf32>) -> memref<?xf32>
    // becomes
    func.func @main(%x: memref<?xf32>, %out: memref<?xf32>) -> index
    ```

    With `host-buffers`, a result whose sizes depend on data stays an allocation, which
    `--place-scratch` puts into the workspace. The function returns where it lies there
    and its dynamic sizes, behind the numbers among the results; the caller copies it
    out. `kernel.placed` lists the positions of such results.
  }];
  let options = [
    Option<"hostBuffers", "host-buffers", "bool", "false",
           "The caller keeps the workspace, and copies results out of it">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::memref::MemRefDialect"
  ];
}

def CopiesToLinalgPass : Pass<"copies-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "[kernels] make linalg ops of copies, and count those of whole tensors";
  let description = [{
    `memref.copy` becomes an op that is lowered to loops: there is no runtime to
    call. Copies of whole tensors, of a version that is still needed or into the place where
    a loop or branch has it, are counted in attributes of the function, with the
    bytes of those whose size is known: `kernel.copies` and `kernel.copied_bytes`
    outside of loops, `kernel.loop_copies` and `kernel.loop_copied_bytes` in them.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def FlattenViewsPass : Pass<"flatten-views", "::mlir::func::FuncOp"> {
  let summary = "[kernels] view contiguous buffers under the shape that merged dimensions give";
  let description = [{
    `memref.collapse_shape` of a contiguous buffer becomes `memref.reinterpret_cast`.
    What looks through the former divides each index by the sizes of the merged
    dimensions, to take the remainder again.

    Every `memref.collapse_shape` and `memref.expand_shape` of a buffer that a branch
    or loop chooses becomes one, too, whatever its layout is: IREE's code generator
    moves reshapes of block arguments to where the arguments are not defined yet. A
    cast of a reshaped buffer becomes one of the buffer.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect"
  ];
}

def PollInterruptsPass : Pass<"poll-interrupts", "::mlir::func::FuncOp"> {
  let summary = "[kernels] let the loops of a kernel stop when the host tells them to";
  let description = [{
    Each `scf.while`, and each `scf.for` that is in no other loop, reads the second
    word of the status buffer in each trip and asserts that it is 0. The read is
    volatile: another thread writes the word. The function gets the status buffer
    as an argument (`kernel.role = "status"`) if it has such loops. A function whose
    sizes and trip counts are all known, and small, is left as it is: it is over
    before anyone could interrupt it.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"
  ];
}

def PlaceScratchPass : Pass<"place-scratch", "::mlir::ModuleOp"> {
  let summary = "[kernels] give the allocations of kernels places on the stack and in a workspace";
  let description = [{
    Small allocations of a known size become `memref.alloca` at the function's start, or, of
    a function with `kernel.threads`, memory that its threads share,
    unless a branch or loop chooses the buffer;
    all others views of one buffer of bytes, the function's last argument
    (`kernel.role = "scratch"`). Each has a place of its own: allocations in loops may
    be shared between trips, as no loop yields another buffer than it was given.

    What a buffer takes is computed when the kernel is called, from numbers and sizes
    among the arguments, or is the most that the ranges of integers allow; a buffer
    for which neither is possible is an error. The sizes of results, which
    `kernel.sizes` of the function counts among the values that it returns, are no
    longer returned. A function `NAME.sizes` computes them for the host, from the
    numbers among the kernel's arguments and the dynamic sizes of its inputs, in their
    order, and behind them the bytes of the workspace. The address of a buffer, which
    `--results-to-outputs` asks for, becomes its offset in the workspace. With `check-workspace` the
    caller may pass any workspace, and a larger one if the assertion `workspace` fails.

    ```mlir
    func.func @main(%x: memref<?xf32>, %out: memref<?xf32>, %scratch: memref<?xi8>)
    func.func private @main.sizes(%n: index) -> (index, index)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
  let options = [
    Option<"maxStack", "max-stack", "int64_t", "16384", "Bytes of scratch memory on the stack">,
    Option<"maxReserved", "max-reserved", "int64_t", "1048576",
           "The most bytes reserved for a buffer of which only the most is known">,
    Option<"checkWorkspace", "check-workspace", "bool", "false",
           "Assert that the workspace is large enough, if that depends on the arguments">
  ];
}

def LowerKernelABIPass : Pass<"lower-kernel-abi", "::mlir::ModuleOp"> {
  let summary = "[kernels] turn bufferised functions into kernels: assertions, scalar results";
  let description = [{
    The functions that are left return nothing:
    - A failed `cf.assert` stores its number in the first word of the status buffer,
      the function's last argument (`memref<Nxi64>`), and returns. The messages are
      the attribute `kernel.messages` of the function; 0 is no failure. Scalar
      results and outputs of integers are 0 then, as they may be used as indices
      before the host has read the status.
    - A scalar result is stored in the status buffer from its third word on, floats
      as their bits; the second is that of `--poll-interrupts`. A function without
      assertions, scalar results and calls has no status.
    - Ops with a function of the C library (`kernel.c_function`) become calls of
      addresses in the last words of the status buffer, which the caller writes: of
      the functions that `kernel.c_functions` lists.
    - Buffers of `i1` have a byte for each element.
    - Denormal numbers are computed with, whatever the caller has set (x86-64; GPUs do
      anyway).
    At the end, constants are propagated and unreachable blocks removed: behind an
    assertion that always fails nothing is left, which LLVM may not expect to be
    reachable.
    Arguments say in `kernel.role` what they are: "input", "written" (an input that
    gets new contents), "output", "scratch", "status".
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"
  ];
}

#endif // SSA_COMPILER_KERNELS_PASSES_TD
