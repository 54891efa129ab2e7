"""Campaigns of hostile input: `python -m tests.fuzz CAMPAIGN --cases N --seed S` (docs/testing.md).

`campaign` has the records that a campaign is made of, `harness` runs the cases, each in a process
with limits of time and memory, `findings` keeps what failed as small files, and `campaigns` lists
the campaigns.
"""
