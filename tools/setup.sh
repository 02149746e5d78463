#!/bin/sh
# Install only what is missing. The Makefile calls this under a lock:
#   setup.sh run    what `make sim` needs
#   setup.sh synth  the same, and what `make synth` needs
#   setup.sh bitstream  the same, and what builds and reads back bitstreams of iCE40 FPGAs
#   setup.sh test   the same, and what `make test` needs
#   setup.sh docs   only Python packages: the site's, and those that the commands in its reference import
set -eu

kind=$1
stamp=.venv/.ready
extra='[all]'
if [ "$kind" != run ]; then
    stamp=.venv/.ready-$kind
fi
case $kind in
test) extra='[test]' ;;
docs) extra='[docs]' ;;
esac

# Another terminal may have done the work while we waited for the lock.
current() {
    [ -e "$stamp" ] || return 1
    for source in pyproject.toml setup.py tools/setup.sh tools/constraints.txt dais_verif/golden/kernel/*; do
        [ "$stamp" -nt "$source" ] || return 1
    done
}
if current; then exit 0; fi

say() { echo "setup: $*"; }

fail() {
    echo "setup: $*" >&2
    exit 3
}

debian() {
    command -v apt-get >/dev/null || fail "$* is missing and there is no apt-get; install it by hand"
    as_root=
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || fail "$* is missing; install it as root: apt-get install $*"
        as_root=sudo
    fi
    say "installing Debian packages: $*"
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null 2>&1 || {
        $as_root apt-get update -qq >/dev/null 2>&1 || true
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null ||
            fail "apt-get could not install $*"
    }
}

"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "$PYTHON must be Python 3.11 or newer; set PYTHON"
"$PYTHON" -c 'import ensurepip, venv' 2>/dev/null || debian python3-venv
command -v g++ >/dev/null || debian g++
# Compiling the fast golden engine needs Python's headers.
"$PYTHON" -c 'import os, sysconfig, sys; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
    debian python3-dev
if [ "$kind" != docs ]; then
    command -v iverilog >/dev/null || debian iverilog
fi
if [ "$kind" != run ] && [ "$kind" != docs ]; then
    command -v yosys >/dev/null || debian yosys
fi
if [ "$kind" = bitstream ] || [ "$kind" = test ]; then
    command -v nextpnr-ice40 >/dev/null || debian nextpnr-ice40
    command -v icepack >/dev/null || debian fpga-icestorm fpga-icestorm-chipdb
fi
if [ "$kind" = test ]; then
    command -v ghdl >/dev/null || debian ghdl
    command -v chromium >/dev/null || debian chromium
    command -v ssh-keygen >/dev/null || debian openssh-client
fi

if ! .venv/bin/python -c '' 2>/dev/null; then
    say "creating a virtual environment in .venv"
    rm -rf .venv
    "$PYTHON" -m venv .venv
fi
say "installing Python packages into .venv"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --constraint tools/constraints.txt \
    --editable ".$extra" ||
    fail "pip could not install the packages"

if [ "$kind" = docs ]; then
    touch "$stamp"
    exit 0
fi

# cocotb embeds Python in the simulator, which needs Python's shared library.
.venv/bin/python -c 'import find_libpython, sys; sys.exit(find_libpython.find_libpython() is None)' ||
    debian libpython3-dev

# Compile the package now: where Python is configured to write no bytecode, each run would compile it again.
.venv/bin/python -m compileall -q dais_verif

.venv/bin/python -m dais_verif.base.toolchain.verilator_runtime
say "checking the installation with one pass and one seeded fault"
sh tools/self_check.sh || exit 3
touch "$stamp"
if [ "$kind" != run ]; then
    touch .venv/.ready
fi
