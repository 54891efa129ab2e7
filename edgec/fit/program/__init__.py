"""The choice as a mixed-integer program, solved by HiGHS, which only `solve` imports.

Knows numbers alone; imports from `base`.
"""
