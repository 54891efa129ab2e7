"""The planner of scales: which tensors share their codes, and the parameters of each group.

Owns: groups of tensors (`groups`), parameters that need no data (`known`), the ranges of groups
(`ranges`), and the rule by which a group gets its parameters (`planner`).  Networks differ in the
rules that they hand to it: `cnn` ends in ranges by observers, `transformer` in a search.
"""
