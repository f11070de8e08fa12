r"""Which actions occur in a vertex of Elfving's program, whatever the variances are.

A vertex of :math:`\{w : \sum_a w_a x(a) = c\}` is a solution whose support is linearly independent.
Its coefficients on the support differ from 0, so the support together with c is a *circuit* of the
vectors :math:`x(1), \dots, x(A), c`: a dependent set of which every proper part is independent.
Conversely, removing c from a circuit that contains c gives the support of a vertex. So an action
occurs in a vertex if and only if it lies in one circuit with c.

Lying in a common circuit is an equivalence relation among vectors. Its classes can be found from
any basis: write all vectors in coordinates of the basis, and join each vector to the basis vectors
with a coordinate other than 0. The connected components of this graph are the classes.

*Why.* An edge joins two vectors of one circuit, since a vector outside the basis and the basis
vectors that it needs form a circuit. So a component lies within a class. On the other hand, the
basis vectors of one component span all vectors of this component, and the spans of two components
have only 0 in common. So the space is the direct sum of these spans. A circuit that met two
components would split into one dependent part for each, whose coefficients sum to 0 separately, and
a proper part of a circuit is independent.

References
----------
J. G. Oxley, "Matroid Theory" (2nd ed., 2011), chapter 4.
"""

from __future__ import annotations

import numpy as np

from speedlib._rows import unit_rows
from speedlib._tolerances import SOLUTION_ROUNDING
from speedlib.checks import Flags, Floats
from speedlib.solvers._frame import frame_of

__all__ = ["occurring"]


def occurring(features: Floats, direction: Floats) -> Flags:
    r"""Return which actions occur in some vertex, shape (A,); none if the direction is 0.

    Actions and direction are measured in units of each feature's largest value and at unit length,
    so neither units nor lengths matter. A coordinate counts as 0 if it may be rounding alone:
    entries that are off by :math:`\epsilon` move the j-th coordinate of a vector v, whose
    coordinates are y, by up to :math:`\epsilon\,|b_j|\,(1 + \sum_i |y_i|)`, with :math:`b_j` the
    dual of the j-th basis vector. No larger coordinate may be dropped. If basis vectors are nearly
    dependent, the limit is much lower, since all dropped parts together must not exceed such an
    error of v. An action too many costs its first pulls; an action too few may cost a vertex, or
    the direction itself.

    Raises
    ------
    ValueError
        If the direction is not in the span of the features.
    """
    if not direction.any():
        return np.zeros(len(features), dtype=bool)
    from scipy.sparse import coo_array  # takes longer to import than all of numpy
    from scipy.sparse.csgraph import connected_components

    frame = frame_of(features, direction)
    points = frame.points(features, np.arange(len(features)))
    vectors = unit_rows(np.vstack([points, frame.target]))
    basis = vectors[frame.basis]
    needs = np.linalg.solve(basis.T, vectors.T).T
    size = np.abs(needs)
    error = SOLUTION_ROUNDING * (1 + size.sum(axis=1, keepdims=True))
    rounding = error * np.linalg.norm(np.linalg.inv(basis), axis=0)
    dropped = np.where(size > rounding, 0.0, needs) @ basis
    lost = np.linalg.norm(dropped, axis=1, keepdims=True) > len(basis) * error
    rounding = np.where(lost, error, rounding)
    vector, place = np.nonzero(size > rounding)
    shape = (len(vectors), len(vectors))
    edges = coo_array((np.ones(vector.size), (vector, frame.basis[place])), shape=shape)
    labels = connected_components(edges, directed=False)[1]
    return np.asarray(labels[:-1] == labels[-1])
