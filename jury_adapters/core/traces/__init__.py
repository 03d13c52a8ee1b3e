"""Reader of OpenTelemetry traces: each trace of an agent becomes one case."""
