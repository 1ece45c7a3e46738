"""`crowdlogic review`: review doubtful items in the browser and refit with the decisions."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from crowdlogic.cli.console import Output, list_written, say, show_output, summary
from crowdlogic.cli.options import JsonOption, SeedOption, TablesOption, reads_labels
from crowdlogic.data.files import read_bytes
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import MissingExtraError
from crowdlogic.registry import EXTRAS
from crowdlogic.workflows.inputs import InputOptions

SourceArgument = Annotated[
    str, typer.Argument(metavar="SOURCE", help="File of labels, or the output folder of `train` or `aggregate --save`.")
]
FolderOption = Annotated[
    str | None, typer.Option("--out", "-o", metavar="DIR", help="Folder of the review; by default ./SOURCE-review.")
]
LabelsOption = Annotated[
    str | None, typer.Option("--labels", metavar="FILE", help="For an estimate: file of its labels.")
]
ItemsOption = Annotated[
    str | None, typer.Option("--items", metavar="FILE", help="File of the items; not needed for a run.")
]
RulesOption = Annotated[
    str | None, typer.Option("--rules", metavar="FILE", help="For labels or an estimate: file of rules to display.")
]
SuggestionsOption = Annotated[
    str | None,
    typer.Option(
        "--suggestions", metavar="FILE", help="Rules written by `rules suggest`, to be accepted, edited or rejected."
    ),
]
MethodOption = Annotated[
    str | None, typer.Option("--method", "-m", help="For labels: truth method; by default, chosen automatically.")
]
RandomOption = Annotated[
    float, typer.Option("--random", min=0, max=1, help="Share of items drawn at random, to estimate the accuracy.")
]
EveryOption = Annotated[
    int, typer.Option("--refit-every", min=0, help="Number of decisions between refits; 0 for refits on request only.")
]
HideOption = Annotated[bool, typer.Option("--hide-names", help="Show annotators by number.")]
HostOption = Annotated[str, typer.Option("--host", help="Address to listen on.")]
PortOption = Annotated[
    int | None, typer.Option("--port", min=0, max=65535, help="Port; by default, the first free one.")
]
PasswordOption = Annotated[
    str | None, typer.Option("--password-file", metavar="FILE", help="File with the password for reviewers.")
]
NoPasswordOption = Annotated[bool, typer.Option("--no-password", help="Allow access without a password or token.")]
AllowHostOption = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host",
        metavar="NAME",
        help="Host name by which browsers may reach the server. Can be given several times.",
    ),
]
BrowserOption = Annotated[bool, typer.Option("--browser/--no-browser", help="Open the browser.")]


@dataclass(frozen=True, kw_only=True)
class ReviewOutput(Output):
    """JSON output of `crowdlogic review`, printed when it ends.

    Attributes:
        source: The reviewed labels, run or estimate.
        items: Number of items.
        decided: Number of decided items.
    """

    source: str
    items: int
    decided: int


OUTPUTS = {"review": ReviewOutput}


@reads_labels
def command(
    source: SourceArgument,
    *,
    out: FolderOption = None,
    labels: LabelsOption = None,
    items: ItemsOption = None,
    rules: RulesOption = None,
    suggestions: SuggestionsOption = None,
    table: TablesOption = None,
    method: MethodOption = None,
    random: RandomOption = 0.1,
    refit_every: EveryOption = 10,
    hide_names: HideOption = False,
    host: HostOption = "127.0.0.1",
    port: PortOption = None,
    password_file: PasswordOption = None,
    no_password: NoPasswordOption = False,
    allow_host: AllowHostOption = None,
    browser: BrowserOption = True,
    seed: SeedOption = 0,
    input: InputOptions,
    json: JsonOption = False,
) -> None:
    """Review doubtful items in the browser and refit with the decisions."""
    server = load_server()
    options = server.ServerOptions(
        host=host,
        port=port,
        password=None if password_file is None else read_bytes(password_file).decode("utf-8", "replace").strip(),
        no_password=no_password,
        allowed_hosts=tuple(allow_host or ()),
        opens_browser=browser,
    )
    server.check_server(options)
    from crowdlogic.extensions.review.material import ReviewOptions, load_material
    from crowdlogic.extensions.review.session import EXPORT_NAMES, default_folder, open_review
    from crowdlogic.extensions.review.snapshot import ServingOptions
    from crowdlogic.workflows.inputs import check_outputs

    folder = default_folder(source) if out is None else Path(out)
    check_outputs(
        (folder, *(folder / name for name in EXPORT_NAMES)),
        read=(source, labels, items, rules, suggestions, *(text.partition("=")[2] for text in table or ())),
    )
    material = load_material(
        ReviewOptions(
            source=source,
            labels=labels,
            items=items,
            rules=rules,
            tables=tuple(table or ()),
            method=method,
            seed=seed,
            input=input,
        )
    )
    say(*material.notices)
    serving = ServingOptions(share=random, seed=seed, hide_names=hide_names)
    with open_review(material, folder, serving, suggestions=suggestions) as session:
        server.serve(session, folder, options, every=refit_every, say=say)
        say(
            f"{session.counts().decided:,} of {pluralise(len(material.labels.items), 'item is', 'items are')} "
            f"decided -> {folder}"
        )
        counts = session.counts()
    if json:
        with summary():
            show_output(
                ReviewOutput(
                    command="review",
                    notices=material.notices,
                    written=list_written(folder),
                    source=source,
                    items=counts.items,
                    decided=counts.decided,
                )
            )


def load_server() -> Any:
    """Import the web server, which needs optional packages."""
    try:
        return import_module("crowdlogic.extensions.review.server")
    except ModuleNotFoundError as problem:
        if problem.name is None or problem.name.split(".")[0] not in EXTRAS:
            raise
        raise MissingExtraError(
            f"review needs the package {problem.name}, which is not installed: pip install crowdlogic[web]"
        ) from problem
