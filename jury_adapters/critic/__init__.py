"""Critics: judges that ask a language model, guided by a rubric."""
