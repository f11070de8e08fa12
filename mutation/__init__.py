"""Proof that the checks can fail: faults put into `speedlib` on purpose, and what turns red.

``python -m mutation named`` applies the faults of ``mutants.yml``, one at a time, to a copy of the
project, and runs tests and claims until one turns red. ``python -m mutation every`` runs through
all the small changes that mutmut can make in four modules. Both store what they find in
``mutation/results``, which the page *Mutants* of the book shows. They need the extra ``mutation``,
and the second a system that can fork (Linux, macOS).
"""
