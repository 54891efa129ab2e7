"""The C library of a model: `emit_library`.

library.json  CMakeLists.txt  README.md  LICENSE
include/edgec_<name>.h  include/edgec/*.h     the interface, and what it needs of the runtime
include/edgec_<name>_labels.h                 names of classes, where they are known
src/edgec_<name>.c                            kernels and the run function
src/edgec_<name>_weights.c, .h                constants
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from edgec.base.dtypes import DType
from edgec.base.resources import licence
from edgec.base.version import __version__
from edgec.codegen.about import NOTHING_KNOWN, LibraryAbout
from edgec.codegen.cliterals import c_float, c_int, c_string, comment_text
from edgec.codegen.cnames import LibraryNames, library_names
from edgec.codegen.contexts import (
    CMakeContext,
    ConstantContext,
    CopyContext,
    HeaderContext,
    KernelContext,
    LabelsContext,
    ParamsContext,
    PortContext,
    ReadmeContext,
    SourceContext,
    StepContext,
    WeightsContext,
)
from edgec.codegen.env import render
from edgec.codegen.files import write_tree
from edgec.codegen.helpers import example, helper_functions
from edgec.codegen.includes import FOLDER, closure, runtime_headers, used_headers
from edgec.kernels.common.constants import ProgramConstant
from edgec.kernels.common.extent import Extent
from edgec.kernels.common.params import ConstantRef, Params
from edgec.kernels.family import CALLED, CALLED_NAME, KernelSpec
from edgec.lower.program import Argument, FeaturePort, Program, ProgramPort, Step, TensorArg

_DIGEST_DIGITS = 16
_NAME_LIMIT = 60
_TOKENS = "tokens"
"""The length of a run as a signed number, in the C function that runs it."""


def emit_library(
    program: Program,
    out_dir: Path,
    names: LibraryNames | None = None,
    about: LibraryAbout = NOTHING_KNOWN,
) -> None:
    """Write the library of a program into `out_dir`.

    The same program gives the same bytes; a file that already holds them is not touched.

    Args:
        program: a program, from `lower.lower`.
        out_dir: the library's folder; created, or updated where it exists.
        names: in C; default: from the program's name.
        about: what helper functions of its header know of the model.

    Raises:
        CodegenError: a file cannot be written.
    """
    write_tree(out_dir, library_files(program, names or library_names(program.name), about))


def library_files(
    program: Program, names: LibraryNames, about: LibraryAbout = NOTHING_KNOWN
) -> dict[str, str]:
    """The text of every file, by path inside the library's folder."""
    facts = header_context(program, names, about)
    files = {
        f"include/{names.header}": render(HeaderContext.template, facts),
        "README.md": render(
            ReadmeContext.template, _readme_context(facts, example(program, names))
        ),
        "LICENSE": licence(),
        f"src/{names.prefix}.c": render(SourceContext.template, source_context(program, names)),
    }
    if program.constants:
        weights = weights_context(program, names)
        files[f"src/{names.prefix}_weights.h"] = render(weights.header_template, weights)
        files[f"src/{names.prefix}_weights.c"] = render(weights.template, weights)
    if about.labels:
        files[f"include/{names.labels}"] = labels_header(
            names, program.name, about.labels, about.labelled
        )
    sources = tuple(sorted(path for path in files if path.endswith(".c")))
    files["CMakeLists.txt"] = render(CMakeContext.template, CMakeContext(names.prefix, sources))
    files["library.json"] = _library_json(names)
    headers = runtime_headers()
    for header in closure(files.values(), headers):
        files[f"include/{FOLDER}/{header}"] = headers[header]
    return files


def render_kernel(context: KernelContext) -> str:
    """The C function of a kernel, below the one that it calls, if it calls one."""
    called: KernelSpec | None = getattr(context.k, CALLED, None)
    above = ""
    if called is not None:
        part = KernelContext(called.describe(), f"{context.name}_{CALLED_NAME}", called)
        above = render_kernel(part) + "\n"
    return above + render(kernel_template(context.k), context)


def kernel_template(spec: KernelSpec | type[KernelSpec]) -> str:
    """The name of a family's template for the environment: its path."""
    return str(spec.template)


def labels_header(names: LibraryNames, model: str, labels: Sequence[str], labelled: int) -> str:
    """The header that names the classes of an output.

    Args:
        names: names of the library in C.
        model: the model's name, untrusted.
        labels: the names of the classes, untrusted.
        labelled: position of the output whose classes they are.
    """
    literals = tuple(c_string(label) for label in labels)
    title = comment_text(model, _NAME_LIMIT)
    context = LabelsContext(names, title, __version__, labelled, literals)
    return render(LabelsContext.template, context)


def header_context(
    program: Program, names: LibraryNames, about: LibraryAbout = NOTHING_KNOWN
) -> HeaderContext:
    """What `model.h.j2` gets."""
    return HeaderContext(
        names=names,
        title=comment_text(program.name, _NAME_LIMIT),
        version=__version__,
        digest=program.digest[:_DIGEST_DIGITS],
        arena_bytes=program.arena_bytes,
        weight_bytes=program.constant_bytes,
        macs=program.macs,
        num_steps=len(program.steps),
        inputs=_ports(program, program.inputs),
        outputs=_ports(program, program.outputs),
        runtime_bits=program.runtime_bits,
        max_bits=program.max_activation_bits,
        max_length=program.max_length,
        helpers=helper_functions(program, names, about),
        example=tuple(f" *     {line}".rstrip() for line in example(program, names).splitlines()),
        labels=bool(about.labels),
    )


def _readme_context(header: HeaderContext, example: str) -> ReadmeContext:
    return ReadmeContext(
        header.names,
        header.title,
        header.version,
        header.arena_bytes,
        header.weight_bytes,
        header.inputs,
        header.outputs,
        example,
    )


def source_context(program: Program, names: LibraryNames) -> SourceContext:
    """What `model.c.j2` gets."""
    kernels = tuple(
        render_kernel(KernelContext(kernel.spec.describe(), kernel.name, kernel.spec))
        for kernel in program.kernels
    )
    constants = constant_names(program, names)
    params = {table: f"params_{number}" for number, table in enumerate(_param_tables(program))}
    types = "\n".join(table.c_type for table in params)
    return SourceContext(
        names=names,
        title=comment_text(program.name, _NAME_LIMIT),
        version=__version__,
        digest=program.digest[:_DIGEST_DIGITS],
        includes=used_headers("\n".join((*kernels, types)), runtime_headers()),
        uses_weights=bool(program.constants),
        kernels=kernels,
        params=tuple(_params_context(table, params[table], constants) for table in params),
        steps=tuple(
            _step_context(program, number, step, params, constants)
            for number, step in enumerate(program.steps)
        ),
        inputs=_ports(program, program.inputs),
        outputs=_ports(program, program.outputs),
        runtime_bits=program.runtime_bits,
        max_length=program.max_length,
    )


def weights_context(program: Program, names: LibraryNames) -> WeightsContext:
    """What `weights.h.j2` and `weights.c.j2` get."""
    hot = {each.constant for each in program.resident}
    constants = tuple(
        ConstantContext(
            c_type=constant.dtype.c_name,
            name=name,
            shape=str(list(constant.array.shape)),
            length=constant.array.size,
            values=constant.array,
            shared=constant.shared,
            hot=number in hot,
        )
        for number, (constant, name) in enumerate(
            zip(program.constants, constant_names(program, names), strict=True)
        )
    )
    return WeightsContext(
        names=names,
        title=comment_text(program.name, _NAME_LIMIT),
        version=__version__,
        digest=program.digest[:_DIGEST_DIGITS],
        constants=constants,
        any_hot=bool(hot),
    )


def constant_names(program: Program, names: LibraryNames) -> tuple[str, ...]:
    """The C name of each constant of a program, in order."""
    return tuple(
        shared_name(constant) if constant.shared else f"{names.prefix}_{constant.stem}_{number}"
        for number, constant in enumerate(program.constants)
    )


def shared_name(constant: ProgramConstant) -> str:
    """The C name of a constant that several libraries define: the same for equal content only."""
    content = hashlib.sha256(f"{constant.dtype.c_name} {constant.array.shape}".encode())
    content.update(constant.array.tobytes())
    return f"edgec_{constant.stem}_{content.hexdigest()[:_DIGEST_DIGITS]}"


def _ports(program: Program, ports: tuple[ProgramPort, ...]) -> tuple[PortContext, ...]:
    return tuple(_port(program, number, port) for number, port in enumerate(ports))


def _port(program: Program, number: int, port: ProgramPort) -> PortContext:
    tensor = port.tensor
    features = port.features if isinstance(port, FeaturePort) else None
    extent = program.extent(tensor)
    return PortContext(
        number=number,
        name=comment_text(tensor.name, _NAME_LIMIT),
        shape=str(list(tensor.shape)),
        layout=_layout(port),
        dtype=f"EDGEC_{tensor.dtype.name}",
        c_type=tensor.dtype.c_name,
        offset_bytes=tensor.offset_bytes,
        size_bytes=tensor.size_bytes,
        elements=tensor.size_bytes // tensor.dtype.size_bytes,
        scale=c_float(tensor.scale),
        zero_point=tensor.zero_point,
        row_bytes=extent.each,
        run_bytes=extent.text("length") if extent.each else "",
        features=len(features.scale) if features else 0,
    )


def _layout(port: ProgramPort) -> str:
    if port.model_perm is None:
        return "axes in the model's order"
    order = ", ".join(str(axis) for axis in port.model_perm)
    return f"the model's axes in the order {order}"


def _param_tables(program: Program) -> dict[Params, None]:
    """Every argument struct, equal ones once, in order of first use."""
    return dict.fromkeys(table for step in program.steps for table in step.params)


def _params_context(table: Params, name: str, constants: tuple[str, ...]) -> ParamsContext:
    values = ((field.name, getattr(table, field.name)) for field in dataclasses.fields(table))
    return ParamsContext(
        c_type=table.c_type,
        name=name,
        fields=tuple(
            (key, constants[value.index] if isinstance(value, ConstantRef) else c_int(value))
            for key, value in values
        ),
    )


def _step_context(
    program: Program,
    number: int,
    step: Step,
    params: dict[Params, str],
    constants: tuple[str, ...],
) -> StepContext:
    arguments = [_argument(argument, constants, program) for argument in step.inputs]
    output = TensorArg(step.output.offset_bytes, step.output.dtype)
    arguments.append(_argument(output, constants, program))
    if step.scratch is not None:
        arguments.append(_argument(step.scratch, constants, program))
    copy = _copy_context(step, params)
    tables = [f"&{params[table]}" for table in step.params]
    arguments += tables if copy is None else ["&copied", *tables[1:]]
    if step.runtime_bits is not None:
        arguments.append(f"width_of(context, {step.runtime_bits})")
    arguments += [size.text(_TOKENS) for size in program.sizes_of_run(number)]
    return StepContext(
        number=number,
        comment=comment_text(", ".join(step.sources) or step.node, _NAME_LIMIT),
        function=program.kernels[step.kernel].name,
        arguments=tuple(arguments),
        offset_bytes=step.output.offset_bytes,
        size=_size(program.extent(step.output)),
        copy=copy,
    )


def _copy_context(step: Step, params: dict[Params, str]) -> CopyContext | None:
    if step.copy is None:
        return None
    first = step.params[0]
    return CopyContext(first.c_type, params[first], step.copy.offset_bytes, step.copy.size_bytes)


def _size(extent: Extent) -> str:
    return f"(uint32_t)({extent.text(_TOKENS)})" if extent.each else f"{extent.fixed}U"


def _argument(argument: Argument, constants: tuple[str, ...], program: Program) -> str:
    if isinstance(argument, ConstantRef):
        # Kernels that move data see int16 as bytes.
        is_wide = program.constants[argument.index].array.dtype == np.int16
        name = constants[argument.index]
        return f"(const void *){name}" if is_wide else name
    place = f"arena + {argument.offset_bytes}"
    return place if argument.dtype is DType.INT8 else f"(void *)({place})"


def _library_json(names: LibraryNames) -> str:
    manifest = {
        "name": names.prefix,
        "version": __version__,
        "description": "A neural network, generated by edgec",
        "headers": names.header,
        "build": {"includeDir": "include", "srcDir": "src"},
        "frameworks": "*",
        "platforms": "*",
    }
    return json.dumps(manifest, indent=2) + "\n"
