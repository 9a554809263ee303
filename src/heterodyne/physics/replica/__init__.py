"""One engine replica as a step machine: jobs in, steps and tokens out, time as an argument."""
