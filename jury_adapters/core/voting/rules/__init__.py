"""Voting rules, one file each; :mod:`jury_adapters.core.voting.registry` finds every file of this folder."""
