"""The numpy oracle = the definitions of `ir.qops` read literally, element by element."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_graphs import adversarial_inputs, all_operators, single_ops
from random_ops import OPS
from scalar_binary import BINARY
from scalar_kernels import ELEMENTS
from scalar_mixed import MIXED
from scalar_planes import PLANES
from scalar_transformer import SCALAR

from edgec.interp import run_graph
from edgec.ir import Graph, Node, qops
from edgec.ir.qops.operands import Operand
from edgec.ir.verify import Stage, verify

OF_16_BITS = (qops.QWindowDot,)
OF_FRONT_ENDS = (
    qops.QLogMel,
    qops.QMicroFeatures,
    qops.QBiquad,
    qops.QSensorFeatures,
    qops.QFrame,
)
_MOST_ELEMENTS = 25
"""Elements checked per tensor: enough for every border, few enough for a loop in Python."""


def check_node(graph: Graph, node: Node, values: dict, rng: np.random.Generator) -> None:
    operands = []
    for name in node.inputs:
        tensor = graph.constants.get(name) or graph.values[name]
        array = tensor.array if name in graph.constants else values[name]
        quant = tensor.quant
        operands.append(Operand(array, quant.tensor_zero_point if quant is not None else 0))
    y, quant = values[node.output], graph.values[node.output].quant
    zero_point = quant.tensor_zero_point if quant is not None else 0
    where = list(np.ndindex(y.shape))
    if len(where) > _MOST_ELEMENTS:
        where = [where[i] for i in rng.choice(len(where), _MOST_ELEMENTS, replace=False)]
    for at in where:
        expected = ELEMENTS[type(node.attrs)](node.attrs, operands, zero_point, at)
        assert y[at] == expected, f"{node.attrs} at {at}"


@pytest.mark.parametrize("op", OPS)
@settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_kernel_is_its_definition(op: str, data: st.DataObject):
    graph = data.draw(single_ops(op, 6))
    verify(graph, Stage.INTEGER, "the random generator")
    rng = np.random.default_rng(5)
    for inputs in adversarial_inputs(graph, rng)[2:5]:
        values = run_graph(graph, inputs)
        for node in graph.nodes:
            check_node(graph, node, values, rng)


def test_every_integer_operator_has_a_kernel_and_a_generator():
    defined = {
        c
        for c in vars(qops).values()
        if isinstance(c, type) and issubclass(c, qops.IntegerOperator) and c.__name__[0] == "Q"
    }
    # test_interp_loops.py and test_parity_loops.py have the operators at the border of loops.
    defined -= {qops.QTurnSlice, qops.QTurnStack, qops.QTurnLast, qops.QCarry, qops.QUpdate}
    # test_parity_rows.py has views of rows, test_parity_chain.py elements that follow each other.
    defined -= {qops.QRowsFrom, qops.QRowsInto, qops.QChain}
    # test_parity_patches.py has columns of patches, and groups of channels.
    defined -= {qops.QColumnsFrom, qops.QColumnsInto, qops.QColumnsJoined, qops.QChannelsJoined}
    generated = {type(node.attrs) for node in all_operators(0, 2).nodes}
    # test_interp_transformer.py has SCALAR; test_tflite_recurrent.py compares OF_16_BITS
    # with TensorFlow Lite Micro itself; test_mixed.py has MIXED, test_parity_binary.py BINARY,
    # test_parity_planes.py PLANES, and
    # unit/frontends compares OF_FRONT_ENDS with numbers of float64 or of their library.
    elsewhere = {*SCALAR, *OF_16_BITS, *OF_FRONT_ENDS, *MIXED, *BINARY, *PLANES}
    assert defined == set(ELEMENTS) | elsewhere
    assert set(ELEMENTS) == generated
