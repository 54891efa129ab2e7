"""The C interface of a generated library (`edgec/edgec.h`, `edgec_batch.h`) as ctypes."""

from __future__ import annotations

import ctypes
from typing import ClassVar

STATUS_NAMES = (
    *("EDGEC_OK", "EDGEC_ERROR_NULL", "EDGEC_ERROR_ARENA", "EDGEC_ERROR_NOT_READY"),
    *("EDGEC_ERROR_LENGTH", "EDGEC_ERROR_STATE", "EDGEC_NOT_YET"),
)
"""The names of the values of `edgec_status_t`, by value."""

StepHook = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32
)
"""The C type `edgec_step_hook_t`: its arguments are user, step, output, bytes."""


class NativeTensor(ctypes.Structure):
    """The C structure `edgec_tensor_t`."""

    offset: int
    bytes: int
    dtype: int
    zero_point: int
    row_bytes: int
    _fields_: ClassVar = [
        ("offset", ctypes.c_uint32),
        ("bytes", ctypes.c_uint32),
        ("dtype", ctypes.c_int),
        ("zero_point", ctypes.c_int32),
        ("row_bytes", ctypes.c_uint32),
    ]


class NativeContext(ctypes.Structure):
    """The C structure `edgec_context_t`."""

    _fields_: ClassVar = [
        ("arena", ctypes.c_void_p),
        ("hook", ctypes.c_void_p),
        ("hook_user", ctypes.c_void_p),
        ("activation_bits", ctypes.c_int32),
        ("state", ctypes.c_void_p),
        ("waiting", ctypes.c_uint32),
    ]


class BatchForm(ctypes.Structure):
    """The C structure `edgec_batch_form_t`."""

    length: int
    bits: int
    stream: ctypes._Pointer[NativeContext]
    _fields_: ClassVar = [
        ("length", ctypes.c_uint32),
        ("bits", ctypes.c_int32),
        ("stream", ctypes.POINTER(NativeContext)),
    ]


class NativeModel(ctypes.Structure):
    """The C structure `edgec_model_t`."""

    name: bytes
    digest: bytes
    arena_bytes: int
    num_inputs: int
    num_outputs: int
    num_steps: int
    inputs: ctypes.Array[NativeTensor]
    outputs: ctypes.Array[NativeTensor]
    set_activation_bits: ctypes._CFunctionType
    max_length: int
    state_bytes: int
    init_state: ctypes._CFunctionType
    reset: ctypes._CFunctionType
    image_runs: int
    image_passes: int
    _fields_: ClassVar = [
        ("name", ctypes.c_char_p),
        ("digest", ctypes.c_char_p),
        ("arena_bytes", ctypes.c_uint32),
        ("num_inputs", ctypes.c_uint32),
        ("num_outputs", ctypes.c_uint32),
        ("num_steps", ctypes.c_uint32),
        ("inputs", ctypes.POINTER(NativeTensor)),
        ("outputs", ctypes.POINTER(NativeTensor)),
        ("init", ctypes.c_void_p),
        ("run", ctypes.c_void_p),
        (
            "set_activation_bits",
            ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(NativeContext), ctypes.c_int32),
        ),
        ("run_length", ctypes.c_void_p),
        ("max_length", ctypes.c_uint32),
        ("state_bytes", ctypes.c_uint32),
        (
            "init_state",
            ctypes.CFUNCTYPE(
                ctypes.c_int,
                ctypes.POINTER(NativeContext),
                *(ctypes.c_void_p, ctypes.c_uint32),
                *(ctypes.c_void_p, ctypes.c_uint32),
            ),
        ),
        ("reset", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(NativeContext))),
        ("image_runs", ctypes.c_uint32),
        ("image_passes", ctypes.c_uint32),
    ]


BATCH_RUN_ARGUMENTS = (
    ctypes.POINTER(NativeModel),
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_uint32,
    ctypes.c_uint32,
    ctypes.POINTER(BatchForm),
    StepHook,
)
"""Argument types of `edgec_run_batch`."""


def layout(structure: type[ctypes.Structure], pointer_bytes: int) -> dict[str, int]:
    """Offsets of the members of a structure of 32-bit words and pointers, on another core.

    Args:
        structure: the structure, as ctypes describes it for this computer.
        pointer_bytes: size and alignment of a pointer there.
    """
    offsets = {}
    end = 0
    for name, kind, *_ in structure._fields_:
        size = 4 if kind in (ctypes.c_uint32, ctypes.c_int32) else pointer_bytes
        offsets[name] = -(-end // size) * size
        end = offsets[name] + size
    return offsets
