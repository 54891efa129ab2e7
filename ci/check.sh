#!/bin/sh
# Build what edgec.toml says and compare it with the committed figures: check.sh [DIR|FILE]
#
# Exit code: that of `edgec check`, 12 where the build is worse than its figures.
# Environment:
#   EDGEC                what pip installs where there is no edgec: a wheel, a folder, an address
#   EDGEC_PACKAGES       Debian packages to install where the compiler is missing
#   GITHUB_STEP_SUMMARY  file that the table is appended to (GitHub sets it)
set -eu

project=${1:-.}
packages=${EDGEC_PACKAGES:-gcc gcc-arm-none-eabi libnewlib-arm-none-eabi}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! command -v edgec >/dev/null; then
    if [ -z "${EDGEC:-}" ]; then
        echo "error: edgec is not installed, and EDGEC does not say what pip installs" >&2
        exit 2
    fi
    python3 -m venv "$work/venv"
    "$work/venv/bin/python" -m pip --disable-pip-version-check install --quiet "$EDGEC"
    PATH="$work/venv/bin:$PATH"
fi

if ! command -v gcc >/dev/null || ! command -v arm-none-eabi-gcc >/dev/null; then
    as_root=""
    if [ "$(id -u)" -ne 0 ]; then as_root=sudo; fi
    $as_root apt-get update -qq
    # shellcheck disable=SC2086  # several packages
    $as_root apt-get install -qq -y $packages
fi

status=0
CI=${CI:-true} edgec check "$project" --markdown "$work/table.md" || status=$?
if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -f "$work/table.md" ]; then
    cat "$work/table.md" >>"$GITHUB_STEP_SUMMARY"
fi
exit "$status"
