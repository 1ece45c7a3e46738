from crowdlogic.compat.sklearn.crowd_classifier import CrowdClassifier as CrowdClassifier
from crowdlogic.compat.sklearn.crowd_tagger import CrowdTagger as CrowdTagger
from crowdlogic.compat.sklearn.truth_estimator import TruthEstimator as TruthEstimator
