#!/usr/bin/env bash
# Installs what the given make target needs on a fresh Debian or Ubuntu machine, and nothing twice:
#   tools/setup.sh demo|docs|test|slow VENV
# System packages come from apt (through sudo when not root), Python packages from PyPI into VENV.
set -euo pipefail
target=$1
venv=$2
cd "$(dirname "$0")/.."

say() { printf '\033[1m[setup]\033[0m %s\n' "$*" >&2; }

apt_install() {
    local missing=()
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return
    if ! command -v apt-get >/dev/null; then
        say "please install these (no apt-get here): ${missing[*]}"
        return
    fi
    local sudo=()
    [ "$(id -u)" -eq 0 ] || sudo=(sudo)
    say "installing ${missing[*]}"
    "${sudo[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

find_python() {
    local candidate
    for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
        if command -v "$candidate" >/dev/null && "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
}

packages=(gcc libc6-dev gcc-arm-none-eabi libnewlib-arm-none-eabi)
# Boards with Linux: cross compilers with their C libraries, and QEMU for single programs.
[ "$target" = demo ] || packages+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross)
[ "$target" = demo ] || packages+=(gcc-arm-linux-gnueabihf libc6-dev-armhf-cross qemu-user)
[ "$target" = demo ] || packages+=(qemu-system-arm clang libclang-rt-dev cmake g++ make ninja-build)
# Exported libraries where `int` has 16 bits.
[ "$target" != slow ] || packages+=(gcc-avr avr-libc arduino-core-avr simavr)
# Looks at the profile's page in a test.  Ubuntu has it only as a snap, which containers cannot run.
[ "$target" = demo ] || ! grep -qx 'ID=debian' /etc/os-release || packages+=(chromium fonts-dejavu-core)
[ "$target" != docs ] || packages=()
apt_install "${packages[@]}"
# The C library of 32-bit programs: some tests run the generated C as such.
if [[ $target = test || $target = slow ]] && [ "$(uname -m)" = x86_64 ]; then
    apt_install libc6-dev-i386 "lib32gcc-$(gcc -dumpversion | cut -d. -f1)-dev"
fi

if [ -z "$(find_python)" ]; then
    apt_install python3.11 python3.11-venv
fi
python=$(find_python)
[ -n "$python" ] || { say "edgec needs Python 3.11 or newer"; exit 1; }

if [ ! -x "$venv/bin/pip" ]; then
    # Debian splits venv from Python; other Pythons (pyenv, python.org) have it built in.
    "$python" -c 'import ensurepip' 2>/dev/null || apt_install "$(basename "$(readlink -f "$(command -v "$python")")")-venv"
    say "creating $venv"
    "$python" -m venv "$venv"
fi

case $target in
demo) extra=sim ;;
docs) extra=docs ;;
*) extra=dev ;;
esac
stamp="$venv/.edgec-$extra"
if [ ! -e "$stamp" ] || [ pyproject.toml -nt "$stamp" ]; then
    say "installing Python packages (edgec[$extra])"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -e ".[$extra]"
    touch "$stamp"
fi

# The slow tests export networks with PyTorch; one version, so that pip need not fetch the newest
# build with its gigabytes of CUDA.
if [ "$target" = slow ] && ! "$venv/bin/python" -c 'import torch' 2>/dev/null; then
    say "installing PyTorch"
    "$venv/bin/pip" install --quiet --disable-pip-version-check torch==2.13.0
fi
