"""The estimated price of int16 activations in time."""

from mixed_nets import mixed
from quant_samples import residual_network

from edgec.kernels.mixed.price import int16_slowdown
from edgec.target.board import load_board
from edgec.target.target import Target


def test_more_int16_layers_take_longer():
    target = Target.of(load_board("nucleo_l4r5zi"))
    graph = residual_network()
    none, some, all_wide = (
        int16_slowdown(mixed(graph, lambda i, n=n: i < n), target) for n in (0, 4, 99)
    )
    assert none == 1.0
    assert some is not None and all_wide is not None
    assert 1.0 < some <= all_wide < 3.3


def test_nothing_is_said_of_cores_without_rates():
    target = Target.of(load_board("raspberry_pi_4"))
    assert int16_slowdown(mixed(residual_network(), lambda _: True), target) is None
