"""What the hand-ins of a class need: a student's numbers, proofs to audit, checks that explain."""
