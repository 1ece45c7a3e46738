from crowdlogic.planning.decisions import Decisions as Decisions
from crowdlogic.planning.review_order import expected_mistakes_removed as expected_mistakes_removed
from crowdlogic.planning.review_queue import ReviewQueue as ReviewQueue
from crowdlogic.planning.review_queue import make_queue as make_queue
from crowdlogic.planning.review_queue import random_sample as random_sample
from crowdlogic.planning.warm_refit import refit as refit
