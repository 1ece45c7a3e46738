from crowdlogic.annotators.abstaining import Abstaining as Abstaining
from crowdlogic.annotators.class_accuracy import ClassAccuracy as ClassAccuracy
from crowdlogic.annotators.confusion import ConfusionMatrices as ConfusionMatrices
from crowdlogic.annotators.confusion import VariationalConfusion as VariationalConfusion
from crowdlogic.annotators.one_coin import Coin as Coin
from crowdlogic.annotators.protocol import AnnotatorModel as AnnotatorModel
from crowdlogic.annotators.protocol import Annotators as Annotators
from crowdlogic.annotators.sequential import Sequential as Sequential
