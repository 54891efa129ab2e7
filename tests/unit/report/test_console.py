import logging

from edgec.base.errors import ConfigError
from edgec.report import console


def test_names_with_colons_are_no_emoji(capsys):
    console.print_json({"a:x:0": ":warning:"})
    console.print_next("edgec", "run", "a:x:b")
    console.print_error(ConfigError("bad :smile:", where=":x:", hint=":fire:"))
    found = capsys.readouterr()
    assert '"a:x:0": ":warning:"' in found.out
    assert "edgec run a:x:b" in found.out
    assert found.err == "error: :x:: bad :smile:\nhint: :fire:\n"


def test_warnings_are_one_line_without_control_characters(capsys):
    console.set_up_logging(verbose=False)
    logging.getLogger("edgec.test").warning("bad %s", "\x1b[31m[red]name" + "x" * 300)
    logging.getLogger("edgec.test").info("detail")
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err == "warning: bad \\x1b[31m[red]name" + "x" * 300 + "\n"
