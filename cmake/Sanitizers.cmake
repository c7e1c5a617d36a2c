# Builds our code with sanitizers: -DSSA_COMPILER_SANITIZE="address;undefined", best with clang.
#
# LLVM and MLIR themselves are the distribution's and are not instrumented. The vptr check needs run-time type
# information, and LLVM has none. What our code and LLVM's share without LLVM's taking part is left unchecked
# (cmake/SanitizerOptions.cpp). A bad access inside of MLIR's own code is found only if it goes through malloc.
#
# Assertions are on in these builds, ours and those of LLVM's headers: cast<> to the wrong class is a finding.

set(SSA_COMPILER_SANITIZE "" CACHE STRING "Sanitizers to build with, as in -fsanitize=: \"address;undefined\"")
if(SSA_COMPILER_SANITIZE)
  list(JOIN SSA_COMPILER_SANITIZE "," _sanitizers)
  add_compile_options(-fsanitize=${_sanitizers} -fno-sanitize=vptr -fno-sanitize-recover=all -fno-omit-frame-pointer
    -gline-tables-only -UNDEBUG "SHELL:-include ${CMAKE_CURRENT_LIST_DIR}/SanitizerAssertions.h")
  add_link_options(-fsanitize=${_sanitizers} -fno-sanitize=vptr)
endif()
