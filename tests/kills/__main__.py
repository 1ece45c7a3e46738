"""`python -m tests.kills [--moments 25] [--only train,report] [--seed 0]`: fill the table of kills; see `tests/kills/table.py`."""

from tests.kills.table import main

if __name__ == "__main__":
    main()
