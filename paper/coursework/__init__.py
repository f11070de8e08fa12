"""What the hand-ins of a class need: students' own numbers, proofs to audit, and checks."""
