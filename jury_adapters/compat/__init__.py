"""The APIs of other packages, based on the judges of this one."""
