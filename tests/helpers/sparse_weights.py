"""Zeros among the weights of integer graphs."""

from dataclasses import replace

import numpy as np

from edgec.ir import Graph
from edgec.ir.weighted import PLAIN, plain_inputs


def with_zeros(graph: Graph, zeros: float, seed: int = 0) -> Graph:
    """The graph with about this share of each layer's weights set to zero, anywhere.

    The first filter of a layer keeps all of its weights, the last one none.
    """
    rng = np.random.default_rng(seed)
    constants = dict(graph.constants)
    for node in graph.nodes:
        if isinstance(node.attrs, PLAIN):
            name = plain_inputs(node).w
            array = constants[name].array.copy()
            kept = rng.random(array.shape) >= zeros
            kept[0], kept[-1] = True, False
            constants[name] = replace(constants[name], array=np.where(kept, array, 0).astype("i1"))
    return replace(graph, constants=constants)
