"""The store on PostgreSQL, which several gateways may share."""
