"""Language models behind one port: the only place that speaks to vendors."""
