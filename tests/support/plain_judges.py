"""Judges that always pass, always fail or always break."""

from jury_adapters import judge


@judge(name="yes")
def passes(case):
    return True


@judge(name="no")
def fails(case):
    return False


@judge(name="down")
def breaks(case):
    raise ConnectionError("no line")
