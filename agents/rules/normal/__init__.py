"""`normal`: a careful rule-based partner, compiled; also the play that the search agents' playouts use."""
