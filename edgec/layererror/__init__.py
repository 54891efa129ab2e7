"""Choice of weights by the error of their layer's output.

Owns: a layer's error as a function of its weights (`objective`), and choosing them one after the
other, each error made up for by those still open (`feedback`).  Pools and integer codes share it.
May import: layers below.
"""
