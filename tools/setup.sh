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
# Runs rp2040js; a Node.js from elsewhere will do.
[ "$target" != slow ] || command -v node >/dev/null || packages+=(nodejs)
[ "$target" != slow ] || packages+=(curl ca-certificates)
# Writes firmware into a QEMU that waits.
[ "$target" != slow ] || packages+=(gdb-multiarch)
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
# Trains with quantization; it needs nothing beside PyTorch.
if [ "$target" = slow ] && ! "$venv/bin/python" -c 'import torchao' 2>/dev/null; then
    say "installing torchao"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps torchao==0.18.0
fi

# A Raspberry Pi Pico that edgec did not write; the package needs no others, so npm is not needed.
rp2040js="$venv/rp2040js"
if [ "$target" = slow ] && [ ! -e "$rp2040js/package" ]; then
    say "fetching rp2040js"
    mkdir -p "$rp2040js"
    fresh=$(mktemp -d "$rp2040js/XXXX")  # renamed when it is whole
    trap 'rm -rf "$fresh"' EXIT
    curl -fsSL --retry 3 -o "$fresh/archive.tgz" https://registry.npmjs.org/rp2040js/-/rp2040js-1.4.1.tgz
    echo "83328017cf7e503477e8d218cb742d3e843782d795edd175a0b81346c194e56f  $fresh/archive.tgz" | sha256sum --check --quiet
    tar -xzf "$fresh/archive.tgz" -C "$fresh"
    mv "$fresh/package" "$rp2040js/package"
fi
