#!/usr/bin/env bash
# Trains a teacher and all compressed networks until its minutes are over; see networks/gpu.py.
#
#   networks/gpu.sh --data-dir FOLDER --out FOLDER [--minutes 9]
#
# Needs PyTorch and edgec's dependencies, no network.  PYTHON names another interpreter.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
export PYTHONPATH="$root${PYTHONPATH:+:$PYTHONPATH}"
exec "${PYTHON:-python3}" "$root/networks/gpu.py" "$@"
