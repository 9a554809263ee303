"""What a request will take on a replica: physics to begin with, corrected by what happens."""
