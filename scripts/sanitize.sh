#!/usr/bin/env bash
# Builds ssa-opt with AddressSanitizer and UBSan, runs the lit tests with it, then mutated .mlir inputs (docs/Testing.md).
#   BUILD   build folder (default: build/asan)
#   INPUTS  number of mutated inputs (default: 4000)
#   SEED    seed of the mutations (default: 0)
#   JOBS    processes of the build (default: 2)
set -euo pipefail
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build/asan}
BIN=${VENV:-.venv}/bin

compiler=()
for suffix in -22 ""; do
  if command -v clang++$suffix >/dev/null; then
    compiler=(-DCMAKE_C_COMPILER=clang$suffix -DCMAKE_CXX_COMPILER=clang++$suffix)
    break
  fi
done
mlir=()
[[ -z ${MLIR_DIR:-} ]] || mlir=("-DMLIR_DIR=$MLIR_DIR")
cmake -G Ninja -S . -B "$BUILD" "-DSSA_COMPILER_SANITIZE=address;undefined" "${compiler[@]}" "${mlir[@]}"
cmake --build "$BUILD" -j"${JOBS:-2}"
"$BIN/lit" -sv -j2 "$BUILD/test/lit"
"$BIN/python" tools/fuzz-ir/fuzz_ir.py --ssa-opt "$BUILD/bin/ssa-opt" --programs --inputs "${INPUTS:-4000}" \
  --seed "${SEED:-0}" --out "$BUILD/findings"
