"""The pages of a report, a package each; see crowdlogic.report.page for the contract."""
