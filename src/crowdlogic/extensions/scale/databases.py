"""Database tables as label files: duckdb:FILE/TABLE, sqlite:FILE/TABLE, postgresql://HOST/DATABASE/TABLE.

Reading uses a read-only connection, and the query must be a single SELECT. Writing creates a new table in one
transaction; existing tables are never changed. Rows become a polars table, which is processed like a Parquet file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Protocol
from urllib.parse import urlsplit, urlunsplit

import polars as pl

from crowdlogic.data.files import InputFile, require_file
from crowdlogic.data.formats.protocol import Crowd, Encoded, Insertion, ReadOptions
from crowdlogic.data.formats.tables import TableFormat, require_rows
from crowdlogic.data.intake.columns import find_roles
from crowdlogic.data.intake.contract import TableSource
from crowdlogic.errors import FormatError, MissingExtraError, OptionError, name_list, one_line
from crowdlogic.registry import EXTRAS

MAX_LISTED = 10
"""Maximum number of tables listed in a message."""

UNSUPPORTED_TYPES = (pl.Binary, pl.Object, pl.Struct, pl.Array)
"""Column types that cannot represent names or labels."""


@dataclass(frozen=True)
class Address:
    """Address of a table.

    Attributes:
        name: The address as shown in messages, without a password.
        database: File or URL of the database.
        table: Name of the table, optionally with a schema; empty if no table is named.
    """

    name: str
    database: str
    table: str

    @property
    def quoted(self) -> str:
        """The table name for SQL, with each part in double quotes."""
        return ".".join('"' + part.replace('"', '""') + '"' for part in self.table.split("."))


class Driver(Protocol):
    """Protocol for database drivers."""

    def parse(self, path: str) -> Address:
        """Split an address into the database and the table."""

    def read(self, address: Address, query: str) -> pl.DataFrame:
        """Return the rows of a query, over a connection that cannot write."""

    def tables(self, address: Address) -> list[str]:
        """Return the names of all tables."""

    def create(self, address: Address, table: pl.DataFrame) -> None:
        """Create a table with these rows in one transaction."""


@dataclass(frozen=True)
class Database(TableFormat):
    """Database as a table format.

    Attributes:
        name: Scheme of the addresses.
        title: Name of the database in messages.
        driver: Driver for reading and writing.
        query: Query for the rows; None for all rows of the table.
    """

    name: str
    title: str
    driver: Driver
    query: str | None = None

    suffixes: tuple[str, ...] = ()
    is_database: ClassVar[bool] = True

    def read_table(self, file: InputFile) -> tuple[pl.DataFrame, TableSource]:
        """Return the rows of the table, or of the query."""
        address = self.driver.parse(str(file.path))
        if (self.query is None) != bool(address.table):
            raise OptionError(f"{address.name}: name either a table (.../TABLE) or a query (--query SQL).")
        if self.query is None:
            with report_problems(address):
                known = self.driver.tables(address)
            if address.table not in known:
                listed = f"Found: {name_list(known, most=MAX_LISTED)}." if known else "It has no tables."
                raise FormatError(f"{address.name}: the database has no table {address.table!r}. {listed}")
        with report_problems(address):
            table = self.driver.read(address, self.query or f"SELECT * FROM {address.quoted}")  # noqa: S608 (quoted)
        for role, column in find_roles(table.columns, where=address.name).items():
            if isinstance(table[column].dtype, UNSUPPORTED_TYPES):
                raise FormatError(
                    f"{address.name}: column {column!r} ({role}) has type {table[column].dtype}, expected text, "
                    f"numbers or booleans. Cast it to text in a query (--query)."
                )
        return require_rows(table, address.name), TableSource(address.name)

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        """Return labels from the rows of the table, or of the query."""
        return TableFormat.read_crowd(replace(self, query=options.query), file, options)

    def encode_table(self, table: pl.DataFrame, target: str) -> Encoded:
        """Return the operation that inserts the rows into a new table."""
        address = self.driver.parse(target)
        if not address.table:
            raise OptionError(f"{target}: name the table to create: {target.rstrip('/')}/TABLE.")
        return Insertion(lambda: self._create(address, table))

    def _create(self, address: Address, table: pl.DataFrame) -> None:
        with report_problems(address):
            if address.table in self.driver.tables(address):
                raise OptionError(
                    f"{address.name}: the table {address.table!r} already exists. Use another name, or drop it first."
                )
            self.driver.create(address, table)


@contextmanager
def report_problems(address: Address) -> Iterator[None]:
    """Turn an error of a driver into one line."""
    try:
        yield
    except OptionError:
        raise
    except Exception as problem:
        kinds = {kind.__module__.partition(".")[0].lstrip("_") for kind in type(problem).__mro__}
        if not kinds & {"sqlite3", "duckdb", "psycopg", "polars"}:
            raise
        said = one_line(str(problem).strip().partition("\n")[0])
        raise FormatError(
            f"{address.name}: database error: {said}. Check the address, the query and your permissions."
        ) from None


def load_driver(name: str) -> Any:
    """Import the package of a database."""
    try:
        return import_module(name)
    except ModuleNotFoundError as problem:
        raise MissingExtraError(
            f"This database needs the package {name}, which is not installed: pip install crowdlogic[{EXTRAS[name]}]"
        ) from problem


def split_file(path: str) -> Address:
    """Split SCHEME:FILE/TABLE. FILE is the longest prefix that is a file, otherwise all but the last part."""
    place = path.partition(":")[2]
    parts = place.split("/")
    for end in range(len(parts), 0, -1):
        if Path("/".join(parts[:end])).is_file():
            return Address(path, "/".join(parts[:end]), "/".join(parts[end:]))
    return Address(path, "/".join(parts[:-1]) or place, parts[-1] if len(parts) > 1 else "")


def refuse_changes(query: str) -> OptionError:
    """Return the error for a query that is not a single SELECT."""
    return OptionError(f"--query {query!r:.100}: only a single SELECT is run, so that no data is modified.")


def insert_rows(
    cursor: Any, address: Address, table: pl.DataFrame, types: tuple[str, str, str, str], mark: str
) -> None:
    """Create the table and insert the rows with a DB-API cursor.

    Args:
        cursor: The cursor.
        address: Address of the table.
        table: The rows.
        types: The types of the database for integers, floats, booleans and text.
        mark: The placeholder of the driver.
    """
    nested = [name for name, dtype in table.schema.items() if dtype.is_nested()]
    if nested:
        raise OptionError(
            f"{address.name}: column {nested[0]!r} contains lists, which are not supported. Write .parquet or .jsonl."
        )
    table = table.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))
    columns = ['"' + name.replace('"', '""') + '"' for name in table.columns]
    is_kind = [(dtype.is_integer(), dtype.is_float(), dtype == pl.Boolean, True) for dtype in table.dtypes]
    kinds = [types[found.index(True)] for found in is_kind]
    declared = ", ".join(f"{name} {kind}" for name, kind in zip(columns, kinds, strict=True))
    cursor.execute(f"CREATE TABLE {address.quoted} ({declared})")
    marks = ", ".join([mark] * len(columns))
    cursor.executemany(f"INSERT INTO {address.quoted} VALUES ({marks})", table.rows())  # noqa: S608 (quoted)


class SQLiteFile:
    """Driver for SQLite files, based on Python's sqlite3."""

    def parse(self, path: str) -> Address:
        """Split sqlite:FILE/TABLE into the file and the table."""
        return split_file(path)

    @contextmanager
    def _reading(self, address: Address) -> Iterator[sqlite3.Connection]:
        """Connect for reading; SQLite rejects everything except SELECT."""
        file = require_file(address.database).resolve()
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
            allowed = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
            connection.set_authorizer(
                lambda action, *_: sqlite3.SQLITE_OK if action in allowed else sqlite3.SQLITE_DENY
            )
            yield connection

    def read(self, address: Address, query: str) -> pl.DataFrame:
        """Return the rows of a query; a column with both numbers and text becomes text."""
        with self._reading(address) as connection:
            try:
                cursor = connection.execute(query)
            except sqlite3.DatabaseError as problem:
                if "not authorized" in str(problem) or "one statement" in str(problem):
                    raise refuse_changes(query) from problem
                raise
            if cursor.description is None:
                raise refuse_changes(query)
            names, rows = [one[0] for one in cursor.description], cursor.fetchall()
        return rows_to_table(names, rows, address)

    def tables(self, address: Address) -> list[str]:
        """Return the names of all tables and views; a file that does not exist has none."""
        if not Path(address.database).exists():
            return []
        with self._reading(address) as connection:
            found = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
            return [name for (name,) in found]

    def create(self, address: Address, table: pl.DataFrame) -> None:
        """Create a table with these rows in one transaction."""
        types = ("INTEGER", "REAL", "BOOLEAN", "TEXT")
        with closing(sqlite3.connect(address.database, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                insert_rows(connection.cursor(), address, table, types, "?")
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")


def rows_to_table(names: list[str], rows: list[tuple[Any, ...]], address: Address) -> pl.DataFrame:
    """Return rows as a table; a column with both numbers and text becomes text."""
    if len(set(names)) < len(names):
        raise OptionError(
            f"{address.name}: the query returns two columns with the same name ({name_list(names)}). Rename one."
        )
    columns = {}
    for position, name in enumerate(names):
        cells = [row[position] for row in rows]
        kinds = {type(cell) for cell in cells if cell is not None}
        if len(kinds) > 1 and str in kinds and kinds <= {int, float, str}:
            cells = [None if cell is None else str(cell) for cell in cells]
        elif len(kinds) > 1 and not kinds <= {int, float}:
            held = name_list(sorted(kind.__name__ for kind in kinds))
            raise FormatError(
                f"{address.name}: column {name!r} has the types {held}, expected one. Cast it in a query."
            )
        columns[name] = pl.Series(name, cells, strict=not kinds <= {int, float})
    table = pl.DataFrame(columns)
    decimals = [name for name, dtype in table.schema.items() if dtype.is_decimal()]
    return table.with_columns(pl.col(decimals).cast(pl.Float64)) if decimals else table


class DuckDBFile:
    """Driver for DuckDB files, based on the package duckdb."""

    def parse(self, path: str) -> Address:
        """Split duckdb:FILE/TABLE into the file and the table."""
        return split_file(path)

    @contextmanager
    def _reading(self, address: Address) -> Iterator[Any]:
        """Connect for reading, without access to other files and the network."""
        duckdb = load_driver("duckdb")
        file = require_file(address.database)
        config = {"enable_external_access": "false"}
        with closing(duckdb.connect(str(file), read_only=True, config=config)) as connection:
            yield connection

    def read(self, address: Address, query: str) -> pl.DataFrame:
        """Return the rows of a query."""
        with self._reading(address) as connection:
            statements = connection.extract_statements(query)
            if [one.type for one in statements] != [load_driver("duckdb").StatementType.SELECT]:
                raise refuse_changes(query)
            result = connection.execute(statements[0])
            names, rows = [one[0] for one in result.description], result.fetchall()
        return rows_to_table(names, rows, address)

    def tables(self, address: Address) -> list[str]:
        """Return the names of all tables and views; a file that does not exist has none."""
        if not Path(address.database).exists():
            return []
        with self._reading(address) as connection:
            found = connection.execute(
                "SELECT table_schema, table_name FROM information_schema.tables ORDER BY table_schema, table_name"
            ).fetchall()
        return [name for schema, name in found if schema == "main"] + [f"{schema}.{name}" for schema, name in found]

    def create(self, address: Address, table: pl.DataFrame) -> None:
        """Create a table with these rows in one transaction."""
        duckdb = load_driver("duckdb")
        types = ("BIGINT", "DOUBLE", "BOOLEAN", "VARCHAR")
        with closing(duckdb.connect(address.database)) as connection:
            connection.begin()
            insert_rows(connection, address, table, types, "?")
            connection.commit()  # closing without it rolls back


class PostgreSQLServer:
    """Driver for PostgreSQL servers, based on psycopg."""

    def parse(self, path: str) -> Address:
        """Split postgresql://[USER@]HOST[:PORT]/DATABASE/TABLE[?OPTIONS]; passwords are hidden in messages."""
        url = urlsplit(path)
        database, _, table = url.path.removeprefix("/").partition("/")
        shown = url.netloc if url.password is None else url.netloc.replace(f":{url.password}@", ":***@")
        name = urlunsplit((url.scheme, shown, url.path, "", ""))
        return Address(name, urlunsplit((url.scheme, url.netloc, f"/{database}", url.query, "")), table)

    @contextmanager
    def _connected(self, address: Address, *, read_only: bool) -> Iterator[Any]:
        psycopg = load_driver("psycopg")
        with psycopg.connect(address.database, connect_timeout=20) as connection:
            connection.read_only = read_only
            yield connection

    def read(self, address: Address, query: str) -> pl.DataFrame:
        """Return the rows of a query. DECLARE CURSOR in a read-only transaction only permits a single SELECT."""
        psycopg = load_driver("psycopg")
        with self._connected(address, read_only=True) as connection:
            try:
                connection.execute(f"DECLARE crowdlogic_rows NO SCROLL CURSOR FOR {query}", prepare=True)
            except psycopg.errors.SyntaxError as problem:
                if "syntax error" in str(problem) and query.split(maxsplit=1)[0].upper() in (
                    "SELECT",
                    "WITH",
                    "VALUES",
                ):
                    raise
                raise refuse_changes(query) from problem
            except (psycopg.errors.ReadOnlySqlTransaction, psycopg.errors.FeatureNotSupported) as problem:
                raise refuse_changes(query) from problem
            cursor = connection.execute("FETCH ALL FROM crowdlogic_rows")
            names = [one.name for one in cursor.description]
            rows = cursor.fetchall()
        return rows_to_table(names, rows, address)

    def tables(self, address: Address) -> list[str]:
        """Return the names of all tables and views, with and without their schema."""
        query = (
            "SELECT table_name FROM information_schema.tables WHERE table_schema = ANY (current_schemas(false)) "
            "UNION SELECT table_schema || '.' || table_name FROM information_schema.tables "
            "WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1"
        )
        with self._connected(address, read_only=True) as connection:
            return [name for (name,) in connection.execute(query)]

    def create(self, address: Address, table: pl.DataFrame) -> None:
        """Create a table with these rows in one transaction."""
        types = ("bigint", "double precision", "boolean", "text")
        with self._connected(address, read_only=False) as connection:  # commits on success, rolls back on an error
            insert_rows(connection.cursor(), address, table, types, "%s")


DUCKDB = Database("duckdb", "a DuckDB database", DuckDBFile())
SQLITE = Database("sqlite", "a SQLite database", SQLiteFile())
POSTGRESQL = Database("postgresql", "a PostgreSQL database", PostgreSQLServer())
