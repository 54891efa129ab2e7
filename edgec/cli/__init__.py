"""The command line: one thin module a command, over `edgec.commands`.

The only place that reads arguments, prints results and exits.
"""
