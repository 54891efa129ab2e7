"""`edgec explore`: a front of builds over everything that is chosen for a network as a whole.

Optuna proposes settings and keeps the trials; a trial is a real build, measured.  Only this package
imports Optuna and Dask: `storage` and `search` the first, `cluster` the second, both inside of
functions that `installed` has let through.
"""
