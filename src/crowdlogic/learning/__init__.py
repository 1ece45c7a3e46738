"""Learn classifier, annotators and truth jointly, guided by rules.

learned = LogicLNCL(KimCNN(vectors)).fit(corpus, labels, rules=read_rules("sentiment.rules"))
learned.estimate                    # clean labels and annotators
learned.predict(new_items)          # the teacher; student=True for the classifier alone
"""

from crowdlogic.registry import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
