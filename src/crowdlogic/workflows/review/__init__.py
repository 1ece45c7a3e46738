"""A review: a person decides doubtful items, and everything else follows.

`material` loads what is reviewed and fits it again with the decisions as known truths; `session` is one review, which
several reviewers may share: its queue, its decisions (kept by `store.decisions`), its re-fits; `exports` is what it
leaves behind. Nothing here knows of a browser.
"""
