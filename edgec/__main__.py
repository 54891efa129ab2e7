"""`python -m edgec`."""

from edgec.cli.app import main

if __name__ == "__main__":
    main()
