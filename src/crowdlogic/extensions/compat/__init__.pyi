from crowdlogic.extensions.compat.kos import KOS as KOS
from crowdlogic.extensions.compat.m_msr import MMSR as MMSR
from crowdlogic.extensions.compat.zero_based_skill import ZeroBasedSkill as ZeroBasedSkill

ENTRIES: dict[str, dict[str, str]]
