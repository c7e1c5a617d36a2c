#!/usr/bin/env bash
# Prepares a machine for `make demo` and `make test`: system packages, a virtual environment, torch, this package.
#
# Everything is checked first and done only where it is missing, so a second run takes about a second. Variables:
#   PYTHON           the interpreter of the virtual environment (default: python3; 3.10 to 3.13)
#   VENV             the virtual environment (default: .venv)
#   MLIR_DIR         folder of MLIRConfig.cmake of an MLIR 22; without it Debian's packages are used
#   TORCH_INDEX_URL  a package index that has a CPU build of torch, "+cpu" in its version
set -euo pipefail
cd "$(dirname "$0")/.."

PYTHON=${PYTHON:-python3}
VENV=${VENV:-.venv}
TORCH_CPU_INDEX=https://download.pytorch.org/whl/cpu

say() { printf '== %s\n' "$*"; }
die() { printf 'set-up failed: %s\n' "$*" >&2; exit 1; }
has_package() { [[ "$(dpkg-query -W -f='${Status}' "$1" 2>/dev/null)" == "install ok installed" ]]; }

# Install Debian packages, as root or through sudo. One call for all, so that apt resolves them together.
apt_install() {
  command -v apt-get >/dev/null || return 1
  local run=()
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || return 1
    run=(sudo)
  fi
  "${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >/dev/null 2>&1 && return
  "${run[@]}" apt-get update -q >/dev/null 2>&1 || true
  "${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >/dev/null 2>&1
}

system_packages() {
  local missing=() optional=()
  "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null || [[ -x $VENV/bin/python ]] || missing+=(python3 python3-venv)
  command -v g++ >/dev/null || command -v clang++ >/dev/null || missing+=(g++)
  command -v cmake >/dev/null || missing+=(cmake)
  command -v ninja >/dev/null || missing+=(ninja-build)
  if [[ -z ${MLIR_DIR:-} ]]; then
    local package
    for package in libmlir-22-dev mlir-22-tools llvm-22-dev zlib1g-dev libzstd-dev; do
      has_package "$package" || missing+=("$package")
    done
  fi
  command -v ccache >/dev/null || optional+=(ccache)
  command -v clang-format-22 >/dev/null || optional+=(clang-format-22)
  if ((${#missing[@]})); then
    say "installing system packages: ${missing[*]}"
    apt_install "${missing[@]}" || die "install these packages and run again: ${missing[*]}$(
      [[ -n ${MLIR_DIR:-} ]] || echo ' (or set MLIR_DIR to the folder of MLIRConfig.cmake of an MLIR 22)')"
  fi
  # Faster rebuilds and the format check: nice to have, asked for once.
  if ((${#optional[@]})) && [[ ! -e $VENV/.optional-packages ]]; then
    say "installing optional system packages: ${optional[*]}"
    apt_install "${optional[@]}" || say "not available, going on without: ${optional[*]}"
    OPTIONAL_TRIED=1
  fi
}

environment() {
  "$PYTHON" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 14))' ||
    die "Python 3.10 to 3.13 is needed (TorchScript does not support later ones), $PYTHON is $("$PYTHON" --version)"
  local options=()
  if "$PYTHON" scripts/find_torch.py --fits 2>/dev/null; then
    options=(--system-site-packages) # a supported torch is there already, with CUDA perhaps: use it
  fi
  say "creating $VENV"
  "$PYTHON" -m venv "${options[@]}" "$VENV"
}

# The newest supported CPU build that pip finds: it is enough, and the ones of PyPI bring gigabytes of CUDA libraries.
install_torch() {
  local pip=("$VENV/bin/python" -m pip install --disable-pip-version-check -q) find=("$VENV/bin/python" scripts/find_torch.py)
  local index=${TORCH_INDEX_URL:-} torch
  if [[ -z $index ]] && torch=$("${find[@]}"); then
    say "installing $torch"
    "${pip[@]}" "$torch" && return
  fi
  index=${index:-$TORCH_CPU_INDEX}
  torch=$("${find[@]}" --index "$index") ||
    die "no supported CPU build of torch at $index: set TORCH_INDEX_URL to a package index that has one"
  say "installing $torch from $index"
  "${pip[@]}" --retries 1 --timeout 30 --extra-index-url "$index" "$torch" || die "$torch cannot be installed"
}

# Everything that the installed package is made of, as one number.
sources_hash() {
  { find CMakeLists.txt pyproject.toml cmake include lib tools test/lib python scripts/setup.sh scripts/find_torch.py -type f \
      -not -path '*/__pycache__/*' -print0 2>/dev/null | LC_ALL=C sort -z | xargs -0 sha256sum
    echo "${MLIR_DIR:-}"; } | sha256sum | cut -d' ' -f1
}

system_packages
[[ -x $VENV/bin/python ]] || environment
[[ -z ${OPTIONAL_TRIED:-} ]] || touch "$VENV/.optional-packages"

hash=$(sources_hash)
stamp=$VENV/.ssa-compiler-installed
if [[ ! -e $stamp || $(<"$stamp") != "$hash" ]]; then
  "$VENV/bin/python" scripts/find_torch.py --fits 2>/dev/null || install_torch
  say "building and installing ssa-compiler (the first build takes minutes)"
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 # checkouts share what was compiled
  "$VENV/bin/python" -m pip install --disable-pip-version-check -q '.[test,docs]' ||
    die "the build failed; see above, or repeat it with: $VENV/bin/python -m pip install -v '.[test,docs]'"
  echo "$hash" >"$stamp"
fi
