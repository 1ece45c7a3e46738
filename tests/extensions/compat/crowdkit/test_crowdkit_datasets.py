from __future__ import annotations

from pathlib import Path

import pytest

from crowdlogic.errors import MissingDataError, OptionError
from crowdlogic.extensions.compat.crowdkit import MajorityVote, get_datasets_list, load_dataset


def write_folder(home: Path, name: str, answers: str, truth: str) -> None:
    (home / name).mkdir()
    (home / name / "crowd_labels.csv").write_text(answers)
    (home / name / "gt.csv").write_text(truth)


def test_a_folder_as_crowd_kit_leaves_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_folder(tmp_path, "relevance-2", "performer,task,label\nw1,t1,0\nw2,t1,0\nw1,t2,1\n", "task,label\nt1,0\n")

    answers, truth = load_dataset("relevance-2", data_dir=tmp_path)

    assert answers.columns.tolist() == ["worker", "task", "label"]
    assert (truth.name, truth.index.name, truth.to_dict()) == ("true_label", "task", {"t1": 0})
    assert MajorityVote().fit_predict(answers).to_dict() == {"t1": 0, "t2": 1}
    monkeypatch.setenv("CROWDKIT_DATA", str(tmp_path))
    assert load_dataset("relevance-2")[0].equals(answers)


def test_other_column_names(tmp_path: Path) -> None:
    write_folder(tmp_path, "netease_crowd", "workerId,taskId,answer,extra\n1,2,3,x\n", "taskId,truth\n2,3\n")

    answers, truth = load_dataset("netease_crowd", data_dir=tmp_path)

    assert answers.to_dict("records") == [{"worker": 1, "task": 2, "label": 3}]
    assert truth.to_dict() == {2: 3}


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="Download relevance-5 with crowd-kit's own load_dataset"):
        load_dataset("relevance-5", data_dir=tmp_path)
    with pytest.raises(OptionError, match=r"There is no data set 'relevance-3'\. Did you mean 'relevance-"):
        load_dataset("relevance-3")
    assert {"relevance-2", "relevance-5"} <= {name for name, _ in get_datasets_list()}
