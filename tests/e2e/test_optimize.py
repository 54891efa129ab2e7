"""`--optimize size`: less code that computes the same."""

from pathlib import Path

from bad_input_support import CALIBRATION, MLP

from edgec.base.options import CompileOptions, Optimize
from edgec.commands.compile import compile_model


def test_size_makes_smaller_code_with_the_same_results(tmp_path: Path) -> None:
    """No layer shares a function: the generated C is the same file, the compiler makes it small."""
    code, sources = {}, {}
    for optimize in Optimize:
        options = CompileOptions(optimize=optimize, verify=optimize is Optimize.SIZE)
        out = tmp_path / optimize.value
        result = compile_model(
            MLP, "nucleo_g0b1re", calibration=str(CALIBRATION), out=out, options=options
        )
        code[optimize] = result.report.memory.code_bytes or 0
        sources[optimize] = (out / "library" / "src" / "edgec_digits_mlp.c").read_bytes()
        if options.verify:
            checks = {check.what: check for check in result.report.checks}
            assert set(checks) == {"host", "emulator"}
            assert not any(check.skipped for check in checks.values())
        flag = "-Os" if optimize is Optimize.SIZE else "-O2"
        settings = (out / "project" / "platformio.ini").read_text().split("build_src_flags")[0]
        assert f"    {flag}\n" in settings
    assert 0 < code[Optimize.SIZE] < code[Optimize.SPEED]
    assert sources[Optimize.SIZE] == sources[Optimize.SPEED]
