"""How anything waits: deadlines that hold wherever they are taken."""
