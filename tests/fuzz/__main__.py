"""`python -m tests.fuzz`: mutated inputs to everything that reads what others wrote; see `tests/fuzz/fuzzer.py`."""

from tests.fuzz.fuzzer import main

if __name__ == "__main__":
    main()
