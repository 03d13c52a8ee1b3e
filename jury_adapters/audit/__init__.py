"""Tests of juries: answers that are wrong by construction, changes that must not matter, and injected instructions."""
