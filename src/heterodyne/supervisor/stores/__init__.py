"""The database, the books, the audit log and the limits, in the supervisor's hands."""
