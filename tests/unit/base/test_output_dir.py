import json
import subprocess
import sys

import pytest

from edgec.base.errors import ConfigError
from edgec.base.output_dir import staged_output
from edgec.base.output_file import write_whole
from edgec.base.swap import MANIFEST


def write(target, files, **options):
    with staged_output(target, **options) as folder:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


def content(target):
    return {
        str(path.relative_to(target)): path.read_text()
        for path in sorted(target.rglob("*"))
        if path.is_file() and path.name != MANIFEST
    }


def leftovers(target):
    return [path.name for path in target.parent.iterdir() if path != target]


def test_the_second_result_replaces_the_first(tmp_path):
    target = tmp_path / "build" / "net"
    write(target, {"report.json": "1", "library/a.c": "old", "library/gone.c": "x"})
    write(target, {"report.json": "2", "library/a.c": "new"})
    assert content(target) == {"report.json": "2", "library/a.c": "new"}
    assert leftovers(target) == []
    assert set(json.loads((target / MANIFEST).read_text())["files"]) == {
        "report.json",
        "library/a.c",
    }


def test_a_failure_leaves_the_earlier_result_as_it_was(tmp_path):
    target = tmp_path / "net"
    write(target, {"report.json": "1"})
    with pytest.raises(KeyboardInterrupt), staged_output(target) as folder:
        (folder / "report.json").write_text("2")
        raise KeyboardInterrupt
    assert content(target) == {"report.json": "1"}
    assert leftovers(target) == []


def test_a_swap_that_fails_half_way_is_undone(tmp_path, monkeypatch):
    target = tmp_path / "net"
    write(target, {"a/1": "old", "b/1": "old"})
    renamed = []
    rename = type(target).rename

    def failing(self, other):
        renamed.append(self)
        if len(renamed) == 5:
            raise OSError(28, "No space left on device")
        return rename(self, other)

    monkeypatch.setattr(type(target), "rename", failing)
    with pytest.raises(ConfigError, match="the disk is full"):
        write(target, {"a/1": "new", "b/1": "new"})
    monkeypatch.undo()
    assert content(target) == {"a/1": "old", "b/1": "old"}
    write(target, {"a/1": "newer"})
    assert content(target) == {"a/1": "newer"}


def test_files_of_the_user_beside_the_result_stay(tmp_path):
    target = tmp_path / "net"
    write(target, {"report.json": "1"})
    (target / "notes.md").write_text("mine")
    write(target, {"report.json": "2"})
    assert content(target) == {"notes.md": "mine", "report.json": "2"}


def test_edited_and_added_files_are_refused_without_force(tmp_path):
    target = tmp_path / "net"
    write(target, {"project/main.c": "1"})
    (target / "project" / "main.c").write_text("edited")
    (target / "project" / "mine.c").write_text("added")
    with pytest.raises(ConfigError, match=r"project/main.c, project/mine.c"):
        write(target, {"project/main.c": "2"})
    assert content(target) == {"project/main.c": "edited", "project/mine.c": "added"}
    write(target, {"project/main.c": "2"}, force=True)
    assert content(target) == {"project/main.c": "2"}


def test_build_products_of_platformio_do_not_count_as_edits(tmp_path):
    target = tmp_path / "net"
    write(target, {"project/main.c": "1"})
    (target / "project" / ".pio").mkdir()
    (target / "project" / ".pio" / "main.o").write_text("o")
    write(target, {"project/main.c": "2"})
    assert content(target) == {"project/main.c": "2"}


def test_a_folder_that_is_not_ours_and_a_file_are_refused(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").write_text("years of work")
    with pytest.raises(ConfigError, match="not made by edgec"):
        write(tmp_path / "home", {"report.json": "1"})
    with pytest.raises(ConfigError, match="is a file"):
        write(tmp_path / "home" / "thesis.tex", {"report.json": "1"})
    assert content(tmp_path / "home") == {"thesis.tex": "years of work"}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"files": 3}', "\x00"])
def test_a_damaged_manifest_is_not_trusted(tmp_path, text):
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(ConfigError, match="not made by edgec"):
        write(tmp_path, {"report.json": "1"})


@pytest.mark.parametrize("name", ["../victim", "/etc/passwd", "", ".", "a//b", "a/../../victim"])
def test_a_manifest_that_names_files_outside_is_not_trusted(tmp_path, name):
    target = tmp_path / "net"
    target.mkdir()
    (tmp_path / "victim").write_text("precious")
    (target / MANIFEST).write_text(json.dumps({"files": {name: "0"}}))
    with pytest.raises(ConfigError, match="not made by edgec"):
        write(target, {"report.json": "1"}, force=True)
    assert (tmp_path / "victim").read_text() == "precious"


def test_a_file_of_the_user_where_a_new_part_goes_is_not_overwritten(tmp_path):
    target = tmp_path / "net"
    write(target, {"report.json": "1"})
    (target / "firmware.elf").write_text("mine")
    with pytest.raises(ConfigError, match=r"in the way: firmware\.elf"):
        write(target, {"report.json": "2", "firmware.elf": "theirs"})
    assert content(target) == {"firmware.elf": "mine", "report.json": "1"}
    assert leftovers(target) == []
    write(target, {"report.json": "2", "firmware.elf": "theirs"}, force=True)
    assert content(target) == {"firmware.elf": "theirs", "report.json": "2"}


WRITE_OFTEN = """
import sys
from pathlib import Path
from edgec.base.output_dir import staged_output

for _ in range(20):
    with staged_output(Path(sys.argv[1])) as folder:
        (folder / "folder").mkdir()
        for number in range(5):
            (folder / "folder" / str(number)).write_text(sys.argv[2])
"""


def test_processes_that_write_to_one_folder_take_turns(tmp_path):
    target = tmp_path / "net"
    command = [sys.executable, "-c", WRITE_OFTEN, str(target)]
    others = [subprocess.Popen([*command, text]) for text in "ab"]
    assert [process.wait(60) for process in others] == [0, 0]
    assert len(set(content(target).values())) == 1
    assert leftovers(target) == []


def test_a_file_is_written_as_a_whole_or_not_at_all(tmp_path):
    write_whole(tmp_path / "new" / "file", b"1")
    write_whole(tmp_path / "new" / "file", b"2")
    assert (tmp_path / "new" / "file").read_bytes() == b"2"
    for bad in (tmp_path / "new", tmp_path / "new" / "file" / "below"):
        with pytest.raises(ConfigError, match="cannot be written"):
            write_whole(bad, b"3")
    assert [entry.name for entry in tmp_path.rglob("*")] == ["new", "file"]
