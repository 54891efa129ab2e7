"""The C of small cases, as text: a change of the generator shows in the difference."""

from collections.abc import Callable
from pathlib import Path

import pytest
from golden_kernels import KERNELS
from lower_samples import NetBuilder, emitted, small_net
from places import REPOSITORY

import edgec
from edgec.base.resources import data_dir
from edgec.codegen.contexts import KernelContext
from edgec.codegen.includes import runtime_headers, runtime_number, used_headers
from edgec.codegen.library import render_kernel
from edgec.kernels.family import KernelSpec, Named
from edgec.kernels.registry import FAMILIES
from edgec.toolchain import process
from edgec.toolchain.cc import WARNING_FLAGS

Golden = Callable[[str, str], None]
GOLDEN = REPOSITORY / "tests" / "golden"

_NEON = {
    name
    for name, spec in KERNELS.items()
    if "neon" in spec.template.parts or getattr(spec, "has_neon", False)
}


def _stem(spec: KernelSpec) -> str:
    """What a kernel is named by: its family, or in a family of several operators its function."""
    return spec.stem if isinstance(spec, Named) else f"{spec.family}_s8"


def test_a_kernel_of_every_family(golden: Golden) -> None:
    """Variants of a family are compiled below, and compared with the oracle by tests of parity."""
    shown = {_stem(KERNELS[name]): name for name in sorted(KERNELS, reverse=True)}
    faults = []
    for stem, name in sorted(shown.items()):
        spec = KERNELS[name]
        text = render_kernel(KernelContext(spec.describe(), f"{stem}_0", spec))
        try:
            golden(f"kernels/{name}.c", text)
        except AssertionError as error:
            faults.append(str(error))
    assert faults == []
    files = {path.stem for path in (GOLDEN / "kernels").iterdir()}
    assert files == set(shown.values())


def test_kernels_with_neon_bring_its_header_along() -> None:
    headers = runtime_headers()
    assert _NEON
    for name in _NEON:
        spec = KERNELS[name]
        text = render_kernel(KernelContext(spec.describe(), f"{_stem(spec)}_0", spec))
        found = used_headers(text, headers)
        assert any("<arm_neon.h>" in headers[header] for header in found), name


def test_every_family_has_a_case() -> None:
    assert {spec.family for spec in KERNELS.values()} == {family.name for family in FAMILIES}


@pytest.mark.parametrize(
    "name",
    ["include/edgec_tiny.h", "src/edgec_tiny.c", "src/edgec_tiny-weights.c", "library.json"],
)
def test_library_of_two_layers(name: str, golden: Golden, tmp_path: Path) -> None:
    net = NetBuilder("tiny")
    x = net.input("image", 1, 4, 4, 2)
    y = net.conv(x, "hidden", (1, 4, 4, 2), kernel=3, pad=1)
    emitted(net.build(net.conv(y, "result", (1, 4, 4, 2), residual=x)), tmp_path)
    text = (tmp_path / name).read_text("utf-8")
    golden(f"library/{Path(name).name}", _lasting(text))


def _lasting(text: str) -> str:
    """A file without what changes with each version of edgec."""
    return text.replace(edgec.__version__, "VERSION").replace(runtime_number(), "RUNTIME")


def test_run_function_of_a_small_network(golden: Golden, tmp_path: Path) -> None:
    emitted(small_net(), tmp_path)
    text = (tmp_path / "src" / "edgec_sample.c").read_text("utf-8")
    golden("library/sample_run.c", text[text.index("edgec_status_t edgec_sample_run") :])


_TARGETS = (
    ("gcc", "-O2"),
    ("clang", "-O2"),
    ("arm-none-eabi-gcc", "-mcpu=cortex-m0plus", "-mthumb", "-Os"),
    ("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb", "-O0"),
    ("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-O3"),
    ("clang", "--target=arm-none-eabi", "-mcpu=cortex-m4", "-mthumb", "-O1"),
    ("aarch64-linux-gnu-gcc", "-mcpu=cortex-a53", "-O2"),
    ("aarch64-linux-gnu-gcc", "-mcpu=cortex-a76", "-O2"),
    ("arm-linux-gnueabihf-gcc", "-mcpu=cortex-a7", "-mfpu=neon-vfpv4", "-mthumb", "-O2"),
    ("avr-gcc", "-mmcu=atmega2560", "-Os"),
)


def _compiles(name: str, target: tuple[str, ...]) -> bool:
    """Kernels for NEON have no form without it, some of them none for Armv7-A, and those of dot
    products one for cores that have them.

    Libraries for AVR, where an `int` has 16 bits, have no kernels for the DSP extension.
    """
    compiler = target[0]
    if "dense_8x8_s8_dot" in KERNELS[name].template.parts:
        return "-mcpu=cortex-a76" in target
    if compiler == "avr-gcc" and "dsp" in KERNELS[name].template.parts:
        return False
    spec = KERNELS[name]
    a64 = getattr(spec, "paired", False) or getattr(spec, "has_sixteen", False)
    a64 = a64 or "dense_1x32_table_neon" in spec.template.parts
    if name == "lut_neon" or a64:
        return compiler.startswith("aarch64")
    return name not in _NEON or "-linux-" in compiler


def _newlib(folder: Path) -> Path:
    """The folder of the headers of GCC's C library for microcontrollers, which Clang lacks."""
    compiler = process.which("arm-none-eabi-gcc")
    if compiler is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    source = folder / "headers.c"
    source.write_text("#include <string.h>\n")
    done = process.run([compiler, "-M", source], timeout_s=60)
    return next(Path(word).parent for word in done.stdout.split() if word.endswith("/string.h"))


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("target", _TARGETS, ids="".join)
def test_every_kernel_compiles_clean(target: tuple[str, ...], tmp_path: Path) -> None:
    compiler = process.which(target[0])
    if compiler is None:
        pytest.skip(f"{target[0]} is not installed")
    functions = [
        render_kernel(KernelContext(spec.describe(), f"kernel_{name}", spec))
        for name, spec in KERNELS.items()
        if _compiles(name, target)
    ]
    served = (name for name in KERNELS if _compiles(name, target))
    addresses = ", ".join(f"(function_t)kernel_{name}" for name in served)
    headers = ("stdbool.h", "string.h", *(f"edgec/{name}" for name in runtime_headers()))
    source = tmp_path / "kernels.c"
    source.write_text(
        "".join(f"#include <{header}>\n" for header in headers)
        + "typedef void (*function_t)(void);\nextern const function_t all[];\n"
        + "".join(functions)
        + f"const function_t all[] = {{{addresses}}};\n"
    )
    include = data_dir("firmware") / "runtime" / "include"
    options = ["-std=c11", *WARNING_FLAGS, "-Werror", *target[1:], f"-I{include}", "-c"]
    if "--target=arm-none-eabi" in target:
        options += ["-isystem", _newlib(tmp_path)]
    done = process.run([compiler, *options, source, "-o", tmp_path / "k.o"], timeout_s=120)
    assert done.returncode == 0, done.stderr
