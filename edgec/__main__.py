"""`python -m edgec`."""

from edgec.cli import main

if __name__ == "__main__":
    main()
