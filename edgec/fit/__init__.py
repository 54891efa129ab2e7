"""The choice of a build within limits as a mixed-integer program, solved by HiGHS.

Knows numbers alone: `problem` has the records, `solve` is the only importer of `highspy`.  Imports
from `base`.  Who prices networks and builds them is `commands.fit`.
"""
