# Builds our code with sanitizers: -DSSA_COMPILER_SANITIZE="address;undefined".
#
# LLVM and MLIR themselves are the distribution's and are not instrumented, which has three consequences. The vptr check
# needs run-time type information, and LLVM has none. Containers that instrumented and uninstrumented code share look as
# if they overflowed, so that programs run with ASAN_OPTIONS=detect_container_overflow=0 (scripts/sanitize.sh). And a bad
# access inside of MLIR's own code is found only if it is to memory that ASan guards: its allocator serves all of them.
#
# Assertions are on in these builds, ours and those of LLVM's headers: cast<> of the wrong class is a finding.

set(SSA_COMPILER_SANITIZE "" CACHE STRING "Sanitizers to build with, as of -fsanitize=: \"address;undefined\"")
if(SSA_COMPILER_SANITIZE)
  list(JOIN SSA_COMPILER_SANITIZE "," _sanitizers)
  add_compile_options(-fsanitize=${_sanitizers} -fno-sanitize=vptr -fno-sanitize-recover=all -fno-omit-frame-pointer
    -gline-tables-only -UNDEBUG)
  add_link_options(-fsanitize=${_sanitizers} -fno-sanitize=vptr)
endif()
