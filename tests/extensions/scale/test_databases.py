"""Labels in real databases: DuckDB and SQLite files, and a PostgreSQL server that is started here."""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import socket
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest
from tests.cli.conftest import Result

from crowdlogic.data.reading import read_labels
from crowdlogic.data.simulate import simulate_sentiment

Run = Callable[..., Result]

LABELS = simulate_sentiment(2, items=60, test_items=2, annotators=8, labels_per_item=4).labels.to_frame()
ROWS = [tuple(map(str, row)) for row in LABELS.select("item", "annotator", "label").rows()]
CREATE = "CREATE TABLE labels (item TEXT, annotator TEXT, label TEXT)"


def run_quietly(words: list[str]) -> None:
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")


def write_sqlite(path: str) -> str:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(CREATE)
        connection.executemany("INSERT INTO labels VALUES (?, ?, ?)", ROWS)
        connection.execute("CREATE TABLE blobs (item TEXT, annotator TEXT, label BLOB)")
        connection.execute("INSERT INTO blobs VALUES ('i', 'a', x'00')")
    return f"sqlite:{path}"


def write_duckdb(path: str) -> str:
    duckdb = pytest.importorskip("duckdb")
    with closing(duckdb.connect(path)) as connection:
        connection.execute(CREATE)
        connection.executemany("INSERT INTO labels VALUES (?, ?, ?)", ROWS)
        connection.execute("CREATE TABLE blobs (item TEXT, annotator TEXT, label BLOB)")
        connection.execute("INSERT INTO blobs VALUES ('i', 'a', '\\x00'::BLOB)")
    return f"duckdb:{path}"


def as_normal_user(*words: str | Path) -> list[str]:
    """The command, run by the user postgres if we are root, whom PostgreSQL refuses."""
    user = [] if os.getuid() else ["runuser", "-u", "postgres", "--"]
    return [*user, *map(str, words)]


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Address of a database on a PostgreSQL server on the loopback interface."""
    psycopg = pytest.importorskip("psycopg")
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    if not found:
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    programs = Path(found[-1])
    if not os.getuid() and (not shutil.which("runuser") or "postgres" not in {one.pw_name for one in pwd.getpwall()}):
        pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
    with tempfile.TemporaryDirectory() as name, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        folder = Path(name)
        if not os.getuid():
            shutil.chown(folder, "postgres")
        run_quietly(as_normal_user(programs / "initdb", "-D", folder / "data", "-A", "trust", "-U", "admin"))
        options = f"-h 127.0.0.1 -p {port} -k {folder} -F"
        control = as_normal_user(programs / "pg_ctl", "-D", folder / "data", "-w")
        run_quietly([*control, "-l", str(folder / "log"), "-o", options, "start"])
        try:
            address = f"postgresql://admin@127.0.0.1:{port}/postgres"
            with psycopg.connect(address) as connection:
                connection.execute(CREATE)
                connection.cursor().executemany("INSERT INTO labels VALUES (%s, %s, %s)", ROWS)
                connection.execute("CREATE TABLE blobs (item TEXT, annotator TEXT, label BYTEA)")
                connection.execute("INSERT INTO blobs VALUES ('i', 'a', '\\x00')")
                connection.execute("CREATE ROLE stranger LOGIN")
            yield address
        finally:
            run_quietly([*control, "-m", "immediate", "stop"])


@pytest.fixture(params=["sqlite", "duckdb", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Address of a database with the tables labels and blobs."""
    monkeypatch.chdir(tmp_path)
    if request.param == "postgresql":
        address: str = request.getfixturevalue("server")
        return address
    return {"sqlite": write_sqlite, "duckdb": write_duckdb}[request.param]("warehouse.db")


def count_rows(database: str) -> int:
    return len(read_labels(f"{database}/labels").label)


def test_a_table_is_aggregated_as_the_same_rows_in_a_file(database: str, run: Run) -> None:
    pl.DataFrame(ROWS, schema=["item", "annotator", "label"], orient="row").write_csv("labels.csv")

    of_file = run("aggregate", "labels.csv", "-o", "file.csv")
    of_table = run("aggregate", f"{database}/labels", "-o", "table.csv")
    of_query = run("aggregate", database, "--query", "SELECT * FROM labels", "-o", "query.csv")

    assert [of_file.code, of_table.code, of_query.code] == [0, 0, 0], of_table.err + of_query.err
    assert Path("table.csv").read_text() == Path("file.csv").read_text() == Path("query.csv").read_text()


def test_answers_go_into_a_new_table_and_come_back_the_same(database: str, run: Run) -> None:
    assert run("aggregate", f"{database}/labels", "-o", "truth.csv").code == 0

    done = run("aggregate", f"{database}/labels", "-o", f"{database}/truth")
    again = run("aggregate", f"{database}/labels", "-o", f"{database}/truth")
    scored = run("evaluate", f"{database}/truth", "truth.csv")

    assert done.code == 0, done.err
    assert again.code == 2
    assert "the table 'truth' already exists" in again.err
    assert scored.code == 0, scored.err
    assert "100.00 %" in scored.out
    if database.startswith("postgresql"):
        import psycopg

        with psycopg.connect(database) as connection:
            connection.execute("DROP TABLE truth")


def test_a_query_that_modifies_data_is_refused(database: str, run: Run) -> None:
    queries = [
        "DELETE FROM labels",
        "DROP TABLE labels",
        "INSERT INTO labels VALUES ('x', 'y', 'z')",
        "UPDATE labels SET label = 'x'",
        "SELECT * FROM labels; DELETE FROM labels",
        "CREATE TABLE other AS SELECT * FROM labels",
        "COMMIT",
    ]

    for query in queries:
        done = run("aggregate", database, "--query", query, "-o", "o.csv")
        assert (done.code, len(done.err.splitlines())) == (2, 1), (query, done.err)

    assert count_rows(database) == len(ROWS)
    assert not Path("o.csv").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{}/label", "-o", "o.csv"], "has no table 'label'. Found: "),
        (["{}/blobs", "-o", "o.csv"], "column 'label' (label) has type Binary, expected text, numbers or booleans"),
        (["{}", "-o", "o.csv"], "name either a table"),
        (["{}", "--query", "SELEC item", "-o", "o.csv"], ""),
        (["{}", "--query", "SELECT nothing FROM labels", "-o", "o.csv"], "nothing"),
        (["{}/labels"], "Say where to write"),
    ],
)
def test_what_cannot_be_read_is_one_line(words: list[str], said: str, database: str, run: Run) -> None:
    done = run("aggregate", *(word.format(database) for word in words))

    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1, done.err
    assert said in done.err
    assert not Path("o.csv").exists()


@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_a_file_that_is_missing_or_no_database_is_one_line(scheme: str, run: Run) -> None:
    pytest.importorskip(scheme if scheme == "duckdb" else "sqlite3")
    Path("plain.txt").write_text("item,annotator,label\n" * 100)

    missing = run("aggregate", f"{scheme}:missing.db/labels", "-o", "o.csv")
    plain = run("aggregate", f"{scheme}:plain.txt/labels", "-o", "o.csv")

    for done in (missing, plain):
        assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1), done.err
    assert not Path("missing.db").exists()


def test_a_server_that_refuses_says_so_and_shows_no_password(server: str, run: Run) -> None:
    other = server.replace("admin@", "stranger:secret@")

    forbidden = run("aggregate", other, "--query", "SELECT * FROM labels", "-o", "o.csv")
    absent = run("aggregate", server.replace("/postgres", "/absent") + "/labels", "-o", "o.csv")
    closed = run("aggregate", "postgresql://admin:secret@127.0.0.1:1/postgres/labels", "-o", "o.csv")

    for done in (forbidden, absent, closed):
        assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1), done.err
        assert "secret" not in done.err
    assert "permission denied for table labels" in forbidden.err
    assert '"absent" does not exist' in absent.err


def test_a_query_goes_with_a_database(run: Run) -> None:
    Path("l.csv").write_text("item,annotator,label\nu,a,x\n")

    done = run("aggregate", "l.csv", "--query", "SELECT 1", "-o", "o.csv")

    assert done.code == 2
    assert "--query goes with a database (duckdb, sqlite, postgresql)" in done.err


def test_ids_and_numbers_come_back_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = ["@bob", "=1", "007", " a ", "12345678901234567890"]
    with closing(sqlite3.connect("w.db")) as connection, connection:
        connection.execute("CREATE TABLE labels (item TEXT, annotator TEXT, label INTEGER)")
        connection.executemany("INSERT INTO labels VALUES (?, 'a', 1)", [(name,) for name in names])

    labels = read_labels("sqlite:w.db/labels")

    assert labels.items.to_list() == names
    assert list(labels.classes) == [1]
