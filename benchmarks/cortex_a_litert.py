"""Runs a .tflite file some times in LiteRT on one thread: cortex_a_litert.py SITE MODEL RUNS.

`benchmarks/cortex_a.py` starts it in an emulated process.  Prints by how many bytes that grew.
"""

from __future__ import annotations

import ctypes
import sys

sys.path.insert(0, sys.argv[1])

import numpy as np
from ai_edge_litert.interpreter import Interpreter


class _MallInfo(ctypes.Structure):
    """`struct mallinfo2` (glibc 2.33, malloc.h)."""

    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks")]
    _fields_ += [(name, ctypes.c_size_t) for name in ("hblkhd", "usmblks", "fsmblks")]
    _fields_ += [(name, ctypes.c_size_t) for name in ("uordblks", "fordblks", "keepcost")]


def _allocated_bytes() -> int:
    """Bytes of the heap that are in use, those that malloc maps by themselves included."""
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = _MallInfo
    found = mallinfo()
    return int(found.uordblks + found.hblkhd)


def main() -> None:
    """Run the model on noise."""
    before = _allocated_bytes()
    interpreter = Interpreter(sys.argv[2], num_threads=1)
    interpreter.allocate_tensors()
    (port, *_) = interpreter.get_input_details()
    noise = np.random.default_rng(0).integers(-128, 128, port["shape"]).astype(port["dtype"])
    interpreter.set_tensor(port["index"], noise)
    for _ in range(int(sys.argv[3])):
        interpreter.invoke()
    # What the interpreter allocates it keeps; the file is mapped into memory beside that.
    print(f"grown by bytes: {_allocated_bytes() - before}")


if __name__ == "__main__":
    main()
