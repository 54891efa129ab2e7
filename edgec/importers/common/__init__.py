"""Builder of REAL graphs that every front shares and that knows no file format.

Nodes with their shapes inferred and checked, fresh names, constants that join once, movement of
elements (of constants at once), meaning of codes spread over movement, input shapes, the report of
all nodes that cannot be compiled, the summary for `edgec inspect`.
"""
