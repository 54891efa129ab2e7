"""Graph passes: one rewrite a file, the runner (`base`) and the explicit pipelines (`pipeline`).

Owns: every rewrite of a `Graph` except quantization itself.  May import: layers 0 to 3.
"""
