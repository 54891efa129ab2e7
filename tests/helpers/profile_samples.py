"""Profiles and reports made by hand, for tests of what shows them."""

from __future__ import annotations

from edgec.profile.types import (
    SCHEMA,
    CoreModelFacts,
    Counts,
    EnergyEstimate,
    Floor,
    FunctionProfile,
    LayerProfile,
    Profile,
)
from edgec.report.model import (
    BufferReport,
    CalibrationReport,
    LayerReport,
    MemoryReport,
    Report,
)
from edgec.target.board import load_board

DIGEST = "0123456789abcdef" * 4


def layer_profile(name: str, macs: int, cycles: int, stalls: int = 0) -> LayerProfile:
    counts = Counts(cycles, cycles - stalls, cycles // 2, cycles // 8, 5, 7, stalls, 0)
    return LayerProfile(
        name=name,
        op="Conv",
        sources=(name,),
        output_shape=(1, 4, 4, 8),
        kernel="conv2d",
        macs=macs,
        moved_bytes=200,
        counts=counts,
        functions=(FunctionProfile("conv2d_s8_0", counts),),
    )


def sample_profile(*layers: LayerProfile) -> Profile:
    layers = layers or (layer_profile("a", 1000, 3000, 300), layer_profile("b", 0, 500))
    outside = Counts(10, 10, 5, 1, 1, 1, 0, 0)
    return Profile(
        schema=SCHEMA,
        model_name="sample",
        digest=DIGEST,
        board="nucleo_f446re",
        board_title="ST Nucleo-64 F446RE",
        core="cortex-m4",
        clock_hz=180_000_000,
        memory="flash",
        input="by hand",
        layers=layers,
        outside=outside,
        functions=tuple(function for layer in layers for function in layer.functions),
        total=sum((layer.counts for layer in layers), outside),
        macs=sum(layer.macs for layer in layers),
        stack_bytes=300,
        stack_limit_bytes=4096,
        arena_bytes=1024,
        arena_touched_bytes=1000,
        energy=EnergyEstimate(1.5, 0.66, "36 mA at 3.3 V", "a data sheet"),
        model=CoreModelFacts("a model", "10 %", ("a manual",)),
        floor=Floor(0.5, 4, "SMLAD"),
    )


def sample_report(*names: str) -> Report:
    """A report with one layer per name; layer i writes 100 + i bytes."""
    return Report(
        schema=1,
        edgec="0",
        model="sample",
        c_name="sample",
        digest=DIGEST,
        board=load_board("nucleo"),
        inputs=(),
        outputs=(),
        layers=tuple(
            LayerReport(
                name=name,
                op="Conv",
                sources=(name,),
                output_shape=(1, 4, 4, 8),
                macs=1000,
                weight_bytes=72,
                kernel="conv2d",
                sqnr_db=None,
                input_bytes=100,
                output_bytes=100 + index,
            )
            for index, name in enumerate(names)
        ),
        macs=1000,
        macs_in_file=1000,
        parameters=1000,
        memory=MemoryReport(arena_bytes=1024, arena_disjoint_bytes=512, weight_bytes=72),
        calibration=CalibrationReport("data", 1, "mse", False, True),
        checks=(),
        qdq_export=None,
        notes=(),
        warnings=(),
        buffers=tuple(
            BufferReport(name, 128 * index, 128, index, index + 2)
            for index, name in enumerate(names)
        ),
    )
