"""The pages of a report, a package each; see crowdlogic.reporting.page for the contract."""
