"""What `heterodyne serve` runs beside its workers: processes, the wanted fleet, stores, alerts, console services."""
