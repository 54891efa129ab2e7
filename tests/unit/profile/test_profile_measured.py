"""Logs of the firmware's bench command, as terminals save them."""

from pathlib import Path

import pytest
from profile_samples import DIGEST, layer_profile, sample_profile, sample_report

from edgec.base.errors import ConfigError
from edgec.profile.measured import Measurement, read_measurement, with_measurement

REPORT = sample_report("a", "b")
RUN = "step=0 bytes=100 cycles={}\nstep=1 bytes=101 cycles={}\nstack=300\nok 01234567\n"


def read(tmp_path: Path, text: str) -> Measurement:
    path = tmp_path / "log.txt"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return read_measurement(path, REPORT.layers, REPORT.digest)


def test_one_run(tmp_path: Path) -> None:
    assert read(tmp_path, RUN.format(2000, 30)) == Measurement((2000, 30), 1)


def test_noise_and_time_stamps_around_the_lines_are_passed_over(tmp_path: Path) -> None:
    log = "--- Miniterm ---\n> bench\r\n[12:00:01] " + RUN.format(7, 8).replace("\n", "\r\n")
    assert read(tmp_path, "\udcff\udc80" + log + "bye").cycles == (7, 8)


def test_median_of_several_runs_and_broken_runs_do_not_count(tmp_path: Path) -> None:
    runs = "".join(RUN.format(a, a) for a in (5, 900, 6))
    broken = "step=0 bytes=100 cycles=1\nfault\n"
    assert read(tmp_path, broken + runs + broken) == Measurement((6, 6), 3)


def test_matching_digest_is_accepted(tmp_path: Path) -> None:
    assert read(tmp_path, f"digest={DIGEST[:16]}\n" + RUN.format(1, 2)).runs == 1


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "no complete run"),
        ("step=0 bytes=100 cycles=1\n", "no complete run"),
        ("step=0 bytes=99 cycles=1\n", "not a step of this model"),
        ("step=2 bytes=1 cycles=1\n", "not a step of this model"),
        ("step=1 bytes=101 cycles=1\n", "no complete run"),
        ("step=0 bytes=100 cycles=99999999999999999\n", "no complete run"),
        ("digest=ffffffffffffffff\n" + RUN.format(1, 2), "another model"),
    ],
)
def test_what_is_no_measurement_of_this_model(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(ConfigError, match=what):
        read(tmp_path, text)


def test_missing_and_unreadable_files(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(ConfigError, match="cannot read"):
            read_measurement(path, REPORT.layers, REPORT.digest)


def test_measured_cycles_go_beside_the_estimate() -> None:
    found = sample_profile(layer_profile("a", 10, 100), layer_profile("b", 10, 200))
    beside = with_measurement(found, Measurement((110, 190), 1))
    assert [layer.measured_cycles for layer in beside.layers] == [110, 190]
    assert beside.measured_cycles == 300
    data = beside.to_json()
    assert [layer["measured_cycles"] for layer in data["layers"]] == [110, 190]
    assert data["total_cycles"] == found.total_cycles
