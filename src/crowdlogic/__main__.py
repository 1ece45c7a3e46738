"""`python -m crowdlogic` is the `crowdlogic` command."""

from crowdlogic.cli.app import main

if __name__ == "__main__":
    main()
