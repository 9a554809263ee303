"""The admin API and the console's pages, on a port of their own: see the fleet, and change it while it serves."""
