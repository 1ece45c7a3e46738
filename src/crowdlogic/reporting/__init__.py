"""Reports: whom to trust, which labels to check, which rules to keep, as one HTML page and as JSON.

    inputs = inputs_from_run(record)  or  inputs_from_estimate(estimate, labels, corpus)         # inputs.py
    report = make_report(inputs, title=..., made_at=...)                                      # report.py
    to_json(report), to_html(report), write_figures(report, folder)                 # report.py, html.py, figures.py

Every page is a package in `pages/` and an entry in `crowdlogic.registry.PAGES`; the contract is `Page` in page.py.
"""
