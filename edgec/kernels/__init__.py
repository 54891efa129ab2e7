"""Kernels: one home for each family of C functions that generated code is made of.

`family` says what the record of a family is; `registry` lists the records, in order of precedence.
Every family is a folder `<group>/<family>/` with its module and its template; what several
families share is in their group's folder or in `common/`.

`select` chooses a family for each node, and `buffers` says what memory the choices need.

Groups: `generic` (plain C for every core), `transformer` (plain C, operators of transformers),
`m0` (Cortex-M without the DSP extension), `dsp` (with it), `neon`, and `weightpool` (layers
whose weights are vectors of a pool).  Imports what lies below kernels: graphs, targets, the oracle.
"""
