"""Who may do what at the admin port: keys, roles, sessions, and the limit of wrong keys."""
