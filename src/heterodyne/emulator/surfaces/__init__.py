"""One file per engine: the pages it has and the names on its metrics page."""
