from crowdlogic.classifiers.class_prior import ClassPrior as ClassPrior
from crowdlogic.classifiers.crf import CRF as CRF
from crowdlogic.classifiers.linear import Linear as Linear
from crowdlogic.classifiers.protocol import Architecture as Architecture
from crowdlogic.classifiers.protocol import Classifier as Classifier
from crowdlogic.classifiers.scikit import Scikit as Scikit
