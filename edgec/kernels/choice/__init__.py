"""Estimated cycles of the kernels that could compute a layer, of which the least one is chosen.

The family of a kernel counts the parts of a call (`KernelFamily.parts`); `prices` has what a run of
each part takes on a core, and `estimate` adds what the call waits for flash.
"""
