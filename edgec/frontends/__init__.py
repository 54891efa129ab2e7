"""Front ends: features of sound, computed in integers before a network.

Owns: parameters of front ends, their tables, and the nodes that compute them.  May import: layers
0 to 2.
"""
