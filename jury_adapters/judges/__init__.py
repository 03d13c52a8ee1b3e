"""Judges that ask no model of their own: checks, juries ready made, and evaluators of other packages."""
