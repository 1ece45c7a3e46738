"""The server: where it listens, who it lets in, what it says."""

from __future__ import annotations

import socket
import urllib.error
from pathlib import Path

import pytest
from tests.extensions.review.served import serving, start

from crowdlogic.errors import OptionError
from crowdlogic.extensions.review.server import (
    ServerOptions,
    address,
    bind,
    check_server,
    describe_access,
    is_loopback,
    make_access,
)


@pytest.mark.parametrize(("host", "own"), [("127.0.0.1", True), ("localhost", True), ("::1", True), ("127.8.0.1", True),
                                           ("0.0.0.0", False), ("10.0.0.1", False), ("example.org", False)])  # fmt: skip
def test_which_addresses_are_of_this_machine_alone(host: str, own: bool) -> None:
    assert is_loopback(host) is own


def test_beyond_this_machine_a_password_is_demanded_or_its_absence_said() -> None:
    with pytest.raises(OptionError) as caught:
        check_server(ServerOptions(host="0.0.0.0"))
    assert str(caught.value) == (
        "--host 0.0.0.0: others can reach this server. Set a password (--password-file FILE), or confirm that "
        "there is none (--no-password)."
    )
    check_server(ServerOptions(host="0.0.0.0", password="long enough"))
    check_server(ServerOptions(host="0.0.0.0", no_password=True))
    assert "There is NO password" in describe_access(ServerOptions(host="0.0.0.0", no_password=True))
    assert "unencrypted" in describe_access(ServerOptions(host="0.0.0.0", password="long enough"))


def test_passwords_are_checked() -> None:
    with pytest.raises(OptionError, match="at least 8 characters"):
        check_server(ServerOptions(password="short"))
    with pytest.raises(OptionError, match=r"exclude each other\. Give one of them"):
        check_server(ServerOptions(password="long enough", no_password=True))


def test_a_token_is_random_and_a_password_is_not_in_the_address() -> None:
    first, second = (make_access(ServerOptions(), 1) for _ in range(2))

    assert first.secret is not None
    assert len(first.secret) >= 32
    assert first.secret != second.secret
    assert address(ServerOptions(), first) == f"http://127.0.0.1:1/#token={first.secret}"
    secret = ServerOptions(password="long enough")
    assert address(secret, make_access(secret, 1)) == "http://127.0.0.1:1/"
    assert address(ServerOptions(host="::1"), first).startswith("http://[::1]:1/")


def test_the_first_free_port_is_taken_and_a_named_one_must_be_free() -> None:
    with bind("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(OptionError, match=f"127.0.0.1:{port}: cannot listen on this address"):
            bind("127.0.0.1", port)
        with bind("127.0.0.1", None) as other:
            assert other.getsockname()[1] != port
            assert other.family is socket.AF_INET


def test_a_review_is_served_interrupted_and_gone_on_with(data: Path, tmp_path: Path) -> None:
    labels, items, folder = data / "labels.csv", data / "items.csv", tmp_path / "review"
    with serving(labels, "--items", items, "-o", folder) as served:
        item = served.ask("queue?reviewer=ann&most=1")["items"][0]
        body = {"request": "r1", "item": item["item"], "reviewer": "ann", "answer": "positive"}
        assert served.ask("decisions", body)["number"] == 1
        said = served.stop()

    assert "Only this machine can reach it." in said
    assert said.splitlines()[-1] == f"1 of 120 items are decided -> {folder}"
    with serving(labels, "--items", items, "-o", folder) as served:
        assert served.ask("progress")["counts"]["decided"] == 1
        assert served.ask("queue?reviewer=ann&most=1")["items"][0]["item"] != item["item"]


def test_with_a_password_the_token_is_the_password(data: Path, tmp_path: Path) -> None:
    (tmp_path / "password").write_text("correct horse\n")
    options = ("-o", tmp_path / "r", "--password-file", tmp_path / "password")
    with serving(data / "labels.csv", *options) as served:
        with pytest.raises(urllib.error.HTTPError, match="401") as caught:
            served.ask("session")
        caught.value.close()
        served.token = "correct horse"
        assert served.ask("session")["items"] == 120


def test_a_server_that_others_can_reach_does_not_start_without_a_word_on_passwords(data: Path) -> None:
    with pytest.raises(RuntimeError, match="others can reach this server"):
        start(data / "labels.csv", "--host", "0.0.0.0")
