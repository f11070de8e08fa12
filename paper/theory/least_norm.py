"""The covariance matrix that least squares selects if several fit, in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

from paper.exact import Matrix, Vector, dot, solve


def least_norm_covariance(actions: Matrix, variances: Vector) -> Matrix:
    r"""Return the symmetric matrix of least Frobenius norm with given variances, exactly.

    With enough data the printed estimate (equation 5) gives every explored action its true
    variance. If several matrices do so, the one of least norm is
    :math:`S = \sum_m y_m x_mx_m^\top` with :math:`\sum_m (x_k^\top x_m)^2 y_m = \sigma^2_k`.

    Parameters
    ----------
    actions : Matrix, shape (k, d)
        Explored actions, one row each.
    variances : Vector, shape (k,)
        What exploration finds for them.

    Returns
    -------
    Matrix, shape (d, d)

    Raises
    ------
    ValueError
        If no matrix has these variances.

    Examples
    --------
    >>> from paper.exact import matrix, text, vector
    >>> text(least_norm_covariance(matrix([[1, 0], [1, 1]]), vector([1, 3])))
    '[1, 2/3; 2/3, 2/3]'
    """
    y = solve(tuple(tuple(dot(p, q) ** 2 for q in actions) for p in actions), variances)
    if y is None:
        raise ValueError("variances: no symmetric matrix gives them to these actions")
    d = range(len(actions[0]))
    terms = list(zip(y, actions, strict=True))
    return tuple(tuple(sum((w * x[i] * x[j] for w, x in terms), Fraction(0)) for j in d) for i in d)
