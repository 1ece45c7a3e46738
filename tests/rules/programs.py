"""Rule programs of every shape that the grammar has, for Hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

VARIABLES = st.sampled_from(["S", "T", "C", "X1", "_y", "été"])
GROUPS = st.sampled_from(["$G", "$LONG_1"])
CONSTANTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=6).map(
    lambda value: "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r") + "'"
)
TERMS = st.one_of(VARIABLES, VARIABLES, CONSTANTS, GROUPS)
NAMES = st.sampled_from(["Label", "Contains", "Previous", "Predicted", "included", "A"])
ATOMS = st.builds(lambda name, terms: f"{name}({', '.join(terms)})", NAMES, st.lists(TERMS, min_size=1, max_size=3))
COMPARISONS = st.builds(lambda a, how, b: f"{a} {how} {b}", TERMS, st.sampled_from(["==", "!=", "~="]), TERMS)
NUMBERS = st.one_of(
    st.integers(0, 20).map(str),
    st.floats(0, 1e6, allow_nan=False).map(repr),
    st.sampled_from(["1e-7", "1E5", "0.1", "1e300", "1e308", "1e999"]),
)
WEIGHTS = st.one_of(
    st.integers(0, 20).map(str), st.floats(0, 1e6).map(repr), st.sampled_from(["-0", "1e-320", "1e6"])
).map(lambda weight: f"{weight}: ")

LITERALS = st.one_of(
    ATOMS,
    ATOMS.map("!{}".format),
    ATOMS.map("~({})".format),
    COMPARISONS,
    COMPARISONS.map("!({})".format),
    COMPARISONS.map("({})".format),
)


def joined(mark: str) -> st.SearchStrategy[str]:
    return st.lists(LITERALS, min_size=1, max_size=3).map(mark.join)


CLAUSES = st.one_of(
    joined(" | "),
    st.builds("{} -> {}".format, joined(" & "), joined(" | ")),
    st.builds("{} << {}".format, joined(" | "), joined(" & ")),
)
SUMMED = st.builds("{}({}, +{})".format, NAMES, VARIABLES, VARIABLES)
FACTORS = st.one_of(
    ATOMS,
    SUMMED,
    NUMBERS,
    ATOMS.map("-{}".format),
    st.builds("{} * {}".format, NUMBERS, ATOMS),
    st.builds("{} {}".format, NUMBERS, ATOMS),
    st.builds("{} / {}".format, ATOMS, NUMBERS),
    st.builds("{} * ({} - {})".format, NUMBERS, ATOMS, NUMBERS),
)
SUMS = st.builds(
    lambda first, rest: first + "".join(f" {sign} {part}" for sign, part in rest),
    FACTORS,
    st.lists(st.tuples(st.sampled_from("+-"), FACTORS), max_size=3),
)
ARITHMETIC = st.builds(lambda a, how, b: f"{a} {how} {b}", SUMS, st.sampled_from(["<=", ">=", "="]), SUMS)
RULES = st.one_of(
    st.builds("{}{}{}".format, WEIGHTS, st.one_of(CLAUSES, ARITHMETIC), st.sampled_from(["", " ^2", " ^1"])),
    st.builds("{} .".format, st.one_of(CLAUSES, ARITHMETIC)),
)
INCLUDES = st.builds(
    "{}include {}{}".format,
    st.one_of(st.just(""), WEIGHTS),
    st.sampled_from(["bio", "contrast", "bioes"]),
    st.one_of(st.just(""), CONSTANTS.map("({})".format), st.builds("({}, {})".format, CONSTANTS, CONSTANTS)),
)
PROGRAMS = st.lists(st.one_of(RULES, RULES, RULES, INCLUDES), max_size=5).map(
    lambda statements: "$G = {'a', \"b'\"}\n$LONG_1 = {'x'}\n" + "\n".join(statements)
)
