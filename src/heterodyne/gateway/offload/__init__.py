"""Work that is proportional to a large body, done in a process beside the worker so that its loop stays quick."""
