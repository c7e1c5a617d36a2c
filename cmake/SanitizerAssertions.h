//===- SanitizerAssertions.h - assertions on, LLVM's layout ---------------===//
//
// Included before everything else in sanitizer builds (Sanitizers.cmake), which
// have assertions while the distribution's LLVM has none. The layout of
// llvm::Statistic, a base class of mlir::Pass::Statistic, depends on NDEBUG:
// it has to be the layout that LLVM was built with.
//
//===----------------------------------------------------------------------===//

#ifdef __cplusplus
#define NDEBUG
#include "llvm/ADT/Statistic.h"
#undef NDEBUG
#include <cassert>
#endif
