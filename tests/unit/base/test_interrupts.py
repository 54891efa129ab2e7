import os
import signal

import pytest

from edgec.base.interrupts import interrupts_deferred

pytestmark = pytest.mark.usefixtures("terminal_signals")


def test_ctrl_c_waits_for_the_end_of_the_block():
    done = []
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), interrupts_deferred():
        os.kill(os.getpid(), signal.SIGINT)
        done.append("the whole block")
    assert done == ["the whole block"]
    assert signal.getsignal(signal.SIGINT) is before
