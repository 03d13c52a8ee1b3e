"""Judges that always say the same, or always break."""

from jury_adapters import Judge, judge
from jury_adapters.core.judgment import ANY_OPINION


class Says(Judge):
    """Judge that returns one value, or raises it if it is an exception, and records that it was asked.

    Attributes:
        asked: how many cases it was asked about.
        log: receives its name each time.
    """

    opinion_statuses = ANY_OPINION

    def __init__(self, value, name="", log=None, *, cost=0.0, opinion_statuses=ANY_OPINION):
        self.value, self.name, self.cost, self.opinion_statuses = value, name, cost, opinion_statuses
        self.log = [] if log is None else log
        self.asked = 0

    def assess(self, case):
        self.asked += 1
        self.log.append(self.name)
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


@judge(name="yes")
def passes(case):
    return True


@judge(name="no")
def fails(case):
    return False


@judge(name="down")
def breaks(case):
    raise ConnectionError("no line")
