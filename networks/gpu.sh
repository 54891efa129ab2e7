#!/usr/bin/env bash
# Trains a teacher and all compressed networks until its minutes are over; see networks/gpu.py.
#
#   networks/gpu.sh --data-dir FOLDER --out FOLDER [--minutes 9]
#
# Needs PyTorch and edgec's dependencies, no network.  PYTHON names another interpreter.
set -euo pipefail
cd "$(dirname "$0")/.."
export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}"
exec "${PYTHON:-python3}" networks/gpu.py "$@"
