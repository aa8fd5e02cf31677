"""Making intervals narrower without moving what they are intervals of: control variates for duplicate deals."""
