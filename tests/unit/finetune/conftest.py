"""What the tests of this folder train: on one thread."""

from collections.abc import Iterator

import pytest

from edgec.ir.graph import Graph


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Sums in one order, and no waiting for the other workers of the tests."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def pooled() -> Graph:
    """Digits with pooled weights, before training."""
    from pooled_digits import pooled_digits

    return pooled_digits()
