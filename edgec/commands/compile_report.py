"""Gathers what the parts of a compilation found out into one `Report`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from edgec.base.compiler_level import CompilerLevel
from edgec.base.description import Description
from edgec.base.dtypes import DType
from edgec.base.options import App, Optimize
from edgec.base.version import __version__
from edgec.codegen.cnames import library_names
from edgec.commands.compile_facts import (
    decisions_report,
    estimate_report,
    int16_report,
    loss_reports,
    node_of,
)
from edgec.commands.sparse_notes import sparse_notes
from edgec.floatrun.executor import is_quantized
from edgec.ir import Graph, Node, qops
from edgec.ir.infer import macs
from edgec.ir.metadata import state_pairs
from edgec.ir.rows import COLUMNS
from edgec.ir.specialize import specialized
from edgec.ir.weighted import form_of
from edgec.kernels.common.spec import LEAST, sharing_shapes
from edgec.kernels.family import name_of, operands
from edgec.kernels.generic.columns import Columns
from edgec.kernels.weightpool.plan.plan import PoolPlan
from edgec.kernels.weightpool.plan.reasons import PooledLayer
from edgec.lower import Program
from edgec.lower.program import FeaturePort, ProgramPort, Step
from edgec.memory import MemoryPlan
from edgec.quant import QuantReport
from edgec.report.model import (
    SCHEMA,
    BufferReport,
    CalibrationReport,
    CheckReport,
    GrowthReport,
    LayerReport,
    MemoryReport,
    PlacementReport,
    PooledLayerReport,
    QdqFileReport,
    QdqReport,
    Report,
    RowsReport,
    SpeedReport,
    StreamReport,
    TensorReport,
    TunedReport,
    finite,
)
from edgec.target.board import Board
from edgec.toolchain.size import FirmwareSize
from edgec.workflow.apps import Ports
from edgec.workflow.file_check import file_warnings
from edgec.workflow.integer import IntegerModel, rows_named_by
from edgec.workflow.labels import fits_labels
from edgec.workflow.stack import stack_warnings


def build_report(
    ready: IntegerModel,
    pools: PoolPlan,
    program: Program,
    plan: MemoryPlan,
    board: Board,
    size: FirmwareSize | None,
    checks: Sequence[CheckReport],
    qdq_export: QdqReport | None,
    qdq_file: QdqFileReport | None,
    app: App = App.CONSOLE,
    placement: PlacementReport | None = None,
    optimize: Optimize = Optimize.SPEED,
    run_stack: Mapping[CompilerLevel, int] = MappingProxyType({}),
    speed: SpeedReport | None = None,
    rows: RowsReport | None = None,
    stream: StreamReport | None = None,
    tuned: TunedReport | None = None,
) -> Report:
    """The report of a compilation.

    Args:
        ready: the integer graph and what led to it.
        pools: how layers with pooled weights are computed.
        program: what the C code was written from.
        plan: where each tensor lies.
        board: the target.
        size: sizes of the firmware; None when none was built, or under an operating system.
        checks: what was compared with the reference.
        qdq_export: the comparison with the exported QDQ model; None when nothing was compared.
        qdq_file: the comparison with the quantized file that was compiled; None likewise.
        app: the main program of the firmware.
        placement: where arena and weights lie; None under an operating system.
        optimize: what the library prefers.
        run_stack: stack that the library needs, by level; empty: not measured.
        speed: what a run takes, estimated; None where no core is modelled.
        rows: layers in turns of a few rows; None: nobody looked for them.
        stream: how it runs frame by frame; None: it does not.
        tuned: layers with kernels that were measured; None: no tune file was given.
    """
    quantization = ready.quantization
    ports = model_ports(ready, program)
    return Report(
        schema=SCHEMA,
        edgec=__version__,
        model=ready.imported.name,
        c_name=library_names(ready.imported.name).name,
        digest=program.digest,
        board=board,
        inputs=ports.inputs,
        outputs=ports.outputs,
        layers=_layers(ready.integer, program, quantization),
        macs=program.macs,
        macs_in_file=ready.macs_in_file,
        parameters=sum(
            c.array.size for c in (ready.annotated or ready.imported).constants.values()
        ),
        memory=_memory(program, plan, board, size, run_stack),
        calibration=_calibration(quantization),
        checks=tuple(checks),
        qdq_export=qdq_export,
        qdq_file=qdq_file,
        notes=(
            *ready.notes,
            *sparse_notes(ready.integer, program),
            *_sharing_notes(program, optimize),
        ),
        warnings=(
            *quantization.warnings,
            *stack_warnings(checks, board),
            *file_warnings(qdq_file),
        ),
        buffers=_buffers(plan),
        pooled=tuple(_pooled(layer) for layer in pools.layers),
        runtime_bits=program.runtime_bits,
        max_length=program.max_length,
        app=app,
        losses=loss_reports(ready, program),
        decisions=decisions_report(quantization.decisions),
        int16=int16_report(quantization.precision),
        estimate=estimate_report(quantization.estimate),
        placement=placement,
        has_integers=is_quantized(ready.imported),
        optimize=optimize,
        loops=program.loops,
        state=state_pairs(ready.imported),
        speed=speed,
        rows=rows,
        stream=stream,
        front_end=ready.front_end,
        camera=ready.camera,
        tuned=tuned,
    )


def _sharing_notes(program: Program, optimize: Optimize) -> tuple[str, ...]:
    """Notes on layers that share functions, where small code was asked for."""
    if optimize is Optimize.SPEED:
        return ()
    sharing = sharing_shapes(kernel.spec for kernel in program.kernels)
    if not sharing:
        return (
            f"--optimize {optimize.value}: fewer than {LEAST} shapes of layers could share "
            "functions, so each has its own",
        )
    return (
        f"--optimize {optimize.value}: {sharing} of {len(program.kernels)} shapes of layers share "
        "functions; `edgec compare` with a build of --optimize speed shows what that saves and "
        "costs",
    )


def model_ports(ready: IntegerModel, program: Program) -> Ports:
    """The inputs and outputs of a model, as it sees them and as the library does."""
    return Ports(
        _ports(ready, ready.imported.inputs, program, program.inputs),
        _ports(ready, ready.imported.outputs, program, program.outputs),
    )


def _pooled(layer: PooledLayer) -> PooledLayerReport:
    return PooledLayerReport(
        layer=layer.output,
        terms=layer.terms,
        kernel=layer.kernel.value,
        builder=layer.builder,
        lanes=layer.lanes,
        chunk_groups=layer.chunk_groups,
        scratch_bytes=layer.scratch_bytes,
        table_bytes=layer.table_bytes,
        table_place=layer.table_place,
        activation_bits=layer.activation_bits,
        response_shift=layer.response_shift,
        cycles=layer.cycles,
        reason=layer.reason,
    )


def _ports(
    model: IntegerModel, names: Sequence[str], program: Program, ports: Sequence[ProgramPort]
) -> tuple[TensorReport, ...]:
    """The model's inputs or outputs beside the library's, which are in the same order."""
    imported, about = model.imported, model.about
    return tuple(
        TensorReport(
            name=name,
            dtype=_model_dtype(imported.values[name].dtype),
            shape=imported.shape(name),
            library_shape=shape,
            layout=port.model_perm or (),
            library_dtype=port.tensor.dtype.value,
            scale=0.0 if isinstance(port, FeaturePort) else port.tensor.scale,
            zero_point=0 if isinstance(port, FeaturePort) else port.tensor.zero_point,
            size_bytes=port.tensor.size_bytes,
            length_axis=_length_axis(program, port),
            feature_scales=port.features.scale if isinstance(port, FeaturePort) else (),
            feature_zero_points=port.features.zero_point if isinstance(port, FeaturePort) else (),
            feature_axis=port.features.axis if isinstance(port, FeaturePort) else None,
            normalize=about.normalize.get(name),
            labels=_labels(imported, name, about),
            rows=rows_named_by(imported, name),
            in_float32=port.tensor.in_float32,
            runs=runs,
        )
        for name, port in zip(names, ports, strict=True)
        for shape, runs in [program.whole_shape(port)]
    )


def _labels(imported: Graph, name: str, about: Description) -> tuple[str, ...]:
    """The labels of an output that has a number for each class, or the number of a class."""
    labels, value = about.labels.get(name, ()), imported.values[name]
    return labels if fits_labels(value.shape, value.dtype.value, len(labels)) else ()


def _length_axis(program: Program, port: ProgramPort) -> int | None:
    """The variable axis of an input or output in the model's order of axes."""
    axis = program.axis(port.tensor)
    return axis if axis is None or port.model_perm is None else port.model_perm[axis]


def _model_dtype(dtype: DType) -> str:
    """Name of an element type in the model: ArgMax, int32 on the target, gives int64 in ONNX."""
    return DType.INT64.value if dtype is DType.INT32 else dtype.value


def _layers(graph: Graph, program: Program, quantization: QuantReport) -> tuple[LayerReport, ...]:
    named = {node.name: node for node in graph.nodes}
    nodes = [node_of(graph, named, program, step) for step in program.steps]
    quality = {layer.value: layer.sqnr_db for layer in quantization.layers}
    return tuple(
        LayerReport(
            name=step.output.name,
            op="Columns" if node is None else node.op.removeprefix("Q"),
            sources=step.sources,
            output_shape=step.output.shape,
            macs=step.macs * program.times(number),
            weight_bytes=_constant_bytes(program, step),
            kernel=name_of(program.kernels[step.kernel].spec),
            sqnr_db=finite(quality.get(step.output.name)),
            input_bytes=_input_bytes(graph, program, node, number),
            output_bytes=sum(tensor.size_bytes for tensor in step.outputs),
            growth=None if node is None else _growth(graph, program, node, number),
            form="" if node is None else _form(node),
            turns=program.times(number),
            more=tuple((tensor.name, tensor.shape) for tensor in step.more),
            first_channel=step.first_channel,
        )
        for number, (step, node) in enumerate(zip(program.steps, nodes, strict=True))
    )


def _input_bytes(graph: Graph, program: Program, node: Node | None, number: int) -> int:
    """Bytes of the activations that a step reads each time."""
    step = program.steps[number]
    spec = program.kernels[step.kernel].spec
    if isinstance(spec, Columns):
        return spec.rows * spec.run_bytes
    assert node is not None
    found, parts = _activation_bytes(graph, node), program.parts(number)
    if step.first_channel is not None and not isinstance(node.attrs, qops.QConv):
        # The pool of a group of channels; the convolution reads all of its operand.
        found = found * step.output.shape[-1] // graph.shape(step.output.name)[-1]
    if parts > 1:  # some rows of an image, and of a patch some columns
        found = found * step.output.shape[COLUMNS] // graph.shape(step.output.name)[COLUMNS]
    return found // parts


def _form(node: Node) -> str:
    """Name of the form of requantization in which a node ends."""
    form = form_of(node.attrs)
    return "" if form is None else form.NAME


def _growth(graph: Graph, program: Program, node: Node, number: int) -> GrowthReport | None:
    """Sizes that a step has less in a shorter run, from runs shorter by 1 and by 2."""
    step = program.steps[number]
    if any(loop.varies for loop in program.loops_around(number)):
        return GrowthReport(
            output_axis=program.axis(step.output),
            input_row_bytes=0,
            output_row_bytes=program.extent(step.output).each,
            macs=(step.macs, 0),
            turns=1,
        )
    if not program.sizes_of_run(number):
        return None
    one, two = (specialized(graph, program.max_length - less) for less in (1, 2))
    missing_1, missing_2 = (step.macs - macs(other, node) for other in (one, two))
    # a - b and 2a - 4b.
    square = (2 * missing_1 - missing_2) // 2
    return GrowthReport(
        output_axis=program.axis(step.output),
        input_row_bytes=_activation_bytes(graph, node) - _activation_bytes(one, node),
        output_row_bytes=program.extent(step.output).each,
        macs=(missing_1 + square, square),
    )


def _activation_bytes(graph: Graph, node: Node) -> int:
    """Bytes of the distinct activations that a node reads."""
    names = {name for name in operands(node) if name in graph.values}
    return sum(graph.values[name].size_bytes for name in names)


def _buffers(plan: MemoryPlan) -> tuple[BufferReport, ...]:
    return tuple(
        BufferReport(name, slot.offset, slot.size_bytes, slot.first_step, slot.end_step)
        for name, slot in plan.arena_slots.items()
    )


def _constant_bytes(program: Program, step: Step) -> int:
    """Bytes of the constants that a step reads, as operands or through its parameters."""
    return sum(program.constants[index].array.nbytes for index in step.constants)


def _memory(
    program: Program,
    plan: MemoryPlan,
    board: Board,
    size: FirmwareSize | None,
    run_stack: Mapping[CompilerLevel, int],
) -> MemoryReport:
    arena, weights = program.arena_bytes, program.constant_bytes
    needed = MemoryReport(
        *(arena, plan.disjoint_bytes, weights, board.flash_bytes, board.ram_bytes),
        state_bytes=program.state_bytes,
        run_stack=run_stack,
    )
    if size is None:
        return needed
    return dataclasses.replace(
        needed,
        flash_bytes=size.flash_bytes,
        code_bytes=size.flash_bytes - weights,
        ram_bytes=size.ram_bytes,
        stack_bytes=size.stack_bytes,
        variable_bytes=size.ram_bytes
        - size.stack_bytes
        - arena
        - program.state_bytes
        - size.ram_weights_bytes,
        ram_weight_bytes=size.ram_weights_bytes,
    )


def _calibration(quantization: QuantReport) -> CalibrationReport:
    found = quantization.in_force
    return CalibrationReport(
        source=quantization.source.value,
        samples=quantization.samples,
        observer=found.observer.value if found.observer else None,
        equalize=found.equalize,
        bias_correction=found.bias_correction,
        percentile=found.percentile,
        residual=found.residual.value if found.residual else None,
        effort=found.effort.value if found.effort else None,
    )
