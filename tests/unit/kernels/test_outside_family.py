"""A kernel family from outside of edgec takes part by its record alone."""

from pathlib import Path

import numpy as np
import pytest
from lower_samples import NetBuilder
from outside_family.family import FAMILY
from parity import check_host
from targets import bare_target

from edgec.ir import Graph, qops
from edgec.kernels.registry import FAMILIES
from edgec.kernels.select import select_kernels
from edgec.target.cores import Core

WITH_OURS = (FAMILY, *FAMILIES)


def net(channels: int) -> Graph:
    """A pointwise convolution and a table."""
    net = NetBuilder()
    x = net.input("x", 1, 3, 3, 4)
    c = net.conv(x, "c", (1, 3, 3, channels))
    table = net.builder.constant("table", np.arange(127, -129, -1).astype(np.int8))
    return net.build(net.node(qops.QLut(), [c, table], "y", (1, 3, 3, channels)))


def chosen(graph: Graph, core: Core) -> str:
    return select_kernels(graph, bare_target(core), families=WITH_OURS)[-1].spec.family


def test_it_is_chosen_where_it_serves() -> None:
    assert chosen(net(4), Core.CORTEX_M4) == "backward_lut"
    assert chosen(net(5), Core.CORTEX_M4) == "elementwise"
    assert chosen(net(4), Core.CORTEX_A53) == "lut_neon"


@pytest.mark.parametrize("channels", [4, 5])
def test_its_model_is_exact(channels: int, tmp_path: Path) -> None:
    program = check_host(net(channels), tmp_path, families=WITH_OURS)
    families = [kernel.spec.family for kernel in program.kernels]
    assert families[-1] == ("backward_lut" if channels == 4 else "elementwise")
    source = next((tmp_path / "library" / "src").glob("edgec_sample.c")).read_text("utf-8")
    assert ("Table look-up backwards, 36 elements" in source) == (channels == 4)
