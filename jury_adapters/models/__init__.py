"""Language models behind one interface. No other part of the package talks to vendors."""
