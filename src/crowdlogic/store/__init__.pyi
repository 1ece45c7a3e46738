from crowdlogic.store.estimates import load_estimate as load_estimate
from crowdlogic.store.estimates import save_estimate as save_estimate
from crowdlogic.store.runs import RunRecord as RunRecord
from crowdlogic.store.runs import read_run as read_run
from crowdlogic.store.runs import write_run as write_run
