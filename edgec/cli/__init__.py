"""The command line: one thin module for each command, over `edgec.commands`.

The only place that reads arguments, prints results and exits.
"""
