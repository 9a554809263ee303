"""An engine that is not there: speaks its HTTP, answers at the speed physics gives, fails when it is told to."""
