//===- SanitizerOptions.cpp - defaults of sanitizer builds ----------------===//
//
// Part of ssa-opt only if it is built with sanitizers. LLVM is not
// instrumented: it neither annotates the containers that it shares with our
// code, nor poisons and unpoisons the memory of its allocators. A finding
// aborts, so that no exit status of ssa-opt's own can be taken for one.
//
//===----------------------------------------------------------------------===//

extern "C" const char *__asan_default_options() {
  return "detect_container_overflow=0:allow_user_poisoning=0:"
         "detect_stack_use_after_return=1:abort_on_error=1";
}

extern "C" const char *__ubsan_default_options() {
  return "print_stacktrace=1:abort_on_error=1";
}
