"""The C library of a model: `emit_library`.

library.json  CMakeLists.txt  README.md  LICENSE
include/edgec_<name>.h              the interface
include/edgec_<name>-labels.h       names of classes, where they are known
include/edgec_<digits>/*.h          what the two need of the runtime
src/edgec_<name>.c                  kernels and the run function
src/edgec_<name>-weights.c, .h      constants
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from edgec.base.resources import licence
from edgec.base.version import __version__
from edgec.codegen.about import NOTHING_KNOWN, LibraryAbout
from edgec.codegen.calls import NAME_LIMIT, rows_contexts, state_contexts, step_contexts
from edgec.codegen.cliterals import c_float, c_int, c_string, comment_text
from edgec.codegen.cnames import LibraryNames, library_names
from edgec.codegen.contexts import (
    CMakeContext,
    ConstantContext,
    HeaderContext,
    KernelContext,
    LabelsContext,
    ParamsContext,
    PortContext,
    ReadmeContext,
    SoundContext,
    SourceContext,
    WeightsContext,
)
from edgec.codegen.env import render
from edgec.codegen.files import write_tree
from edgec.codegen.helpers import example, helper_functions
from edgec.codegen.includes import (
    closure,
    in_library,
    library_folder,
    runtime_headers,
    runtime_number,
    used_headers,
)
from edgec.kernels.common.constants import ConstantRef, Params, ProgramConstant
from edgec.kernels.common.spec import CALLED, CALLED_NAME
from edgec.kernels.family import KernelSpec
from edgec.lower.program import FeaturePort, Program, ProgramPort

_DIGEST_DIGITS = 16


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
        about: what its header and readme say beside what the program holds.

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
            ReadmeContext.template, _readme_context(facts, example(program, names, about))
        ),
        "LICENSE": licence(),
        f"src/{names.prefix}.c": render(SourceContext.template, source_context(program, names)),
    }
    if program.constants:
        weights = weights_context(program, names)
        files[f"src/{names.weights}.h"] = render(weights.header_template, weights)
        files[f"src/{names.weights}.c"] = render(weights.template, weights)
    if about.labels:
        files[f"include/{names.labels}"] = labels_header(
            names, program.name, about.labels, about.labelled
        )
    sources = tuple(sorted(path for path in files if path.endswith(".c")))
    files["CMakeLists.txt"] = render(CMakeContext.template, CMakeContext(names.prefix, sources))
    files["library.json"] = _library_json(names)
    headers = runtime_headers()
    for header in closure(files.values(), headers):
        files[f"include/{library_folder()}/{header}"] = headers[header]
    return {path: in_library(text) for path, text in files.items()}


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
    title = comment_text(model, NAME_LIMIT)
    context = LabelsContext(names, title, __version__, labelled, literals)
    return render(LabelsContext.template, context)


def header_context(
    program: Program, names: LibraryNames, about: LibraryAbout = NOTHING_KNOWN
) -> HeaderContext:
    """Context of `model.h.j2` for a program."""
    return HeaderContext(
        names=names,
        title=comment_text(program.name, NAME_LIMIT),
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
        example=tuple(
            f" *     {line}".rstrip() for line in example(program, names, about).splitlines()
        ),
        labels=bool(about.labels),
        state_bytes=program.state_bytes,
        warm_up=program.warm_up,
        rows=rows_contexts(program),
        sound_samples=program.sound.samples if program.sound else 0,
        runtime=runtime_number(),
        stack=(about.stack,) if about.stack else (),
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
        header.state_bytes,
        header.stack,
    )


def source_context(program: Program, names: LibraryNames) -> SourceContext:
    """Context of `model.c.j2` for a program."""
    kernels = tuple(
        render_kernel(KernelContext(kernel.spec.describe(), kernel.name, kernel.spec))
        for kernel in program.kernels
    )
    constants = constant_names(program, names)
    params = {table: f"params_{number}" for number, table in enumerate(_param_tables(program))}
    types = "\n".join(table.c_type for table in params)
    steps = step_contexts(program, params, constants)
    rows = rows_contexts(program)
    fired = [text for s in steps if s.firing for text in (s.firing.found, s.firing.slide)]
    fired += [each.slide for each in rows]
    return SourceContext(
        names=names,
        title=comment_text(program.name, NAME_LIMIT),
        version=__version__,
        digest=program.digest[:_DIGEST_DIGITS],
        includes=used_headers("\n".join((*kernels, types, *fired)), runtime_headers()),
        uses_weights=bool(program.constants),
        kernels=kernels,
        params=tuple(_params_context(table, params[table], constants) for table in params),
        steps=steps,
        inputs=_ports(program, program.inputs),
        outputs=_ports(program, program.outputs),
        runtime_bits=program.runtime_bits,
        max_length=program.max_length,
        init="init_without_state" if program.state_bytes else f"{names.prefix}_init",
        state=state_contexts(program, constants),
        warm_up=program.warm_up,
        rows=rows,
        sound=_sound(program),
    )


def _sound(program: Program) -> tuple[SoundContext, ...]:
    found = program.sound
    if found is None:
        return ()
    return (SoundContext(found.samples, found.lead, found.offset_bytes),)


def weights_context(program: Program, names: LibraryNames) -> WeightsContext:
    """Context of `weights.h.j2` and `weights.c.j2` for a program."""
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
        title=comment_text(program.name, NAME_LIMIT),
        version=__version__,
        digest=program.digest[:_DIGEST_DIGITS],
        constants=constants,
        any_hot=bool(hot),
    )


def constant_names(program: Program, names: LibraryNames) -> tuple[str, ...]:
    """The C name of each constant of a program, in order."""
    return tuple(
        shared_name(constant) if constant.shared else names.constant(number, constant.stem)
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
        name=comment_text(tensor.name, NAME_LIMIT),
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
        fields=tuple((key, _number(value, constants)) for key, value in values),
    )


def _number(value: int | ConstantRef | None, constants: tuple[str, ...]) -> str:
    """A field of an argument struct in C."""
    if value is None:
        return "NULL"
    return constants[value.index] if isinstance(value, ConstantRef) else c_int(value)


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
