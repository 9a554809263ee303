"""The modules that child processes run, as `python -m` takes them."""

WORKER = "heterodyne.assembly.worker"
PLAN = "heterodyne.supervisor.services.plan.child"
REHEARSAL = "heterodyne.supervisor.services.rehearsal.child"
