"""From a model, a chip and a class of work to an engine's launch command; one file per engine."""
