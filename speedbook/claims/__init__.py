"""Claims of the registry, the rules that decide them, and the ledger of what was found."""
