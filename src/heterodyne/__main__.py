"""`python -m heterodyne` is the `heterodyne` command."""

from heterodyne.cli.main import main

if __name__ == "__main__":
    main()
