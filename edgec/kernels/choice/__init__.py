"""Estimated cycles of kernels: the one price by which layers, pools and placement choose.

The family of a kernel counts the parts of a call (`KernelFamily.parts`); `prices` has what a run of
each part takes on a core, and `estimate` adds what the call waits for flash.
"""
