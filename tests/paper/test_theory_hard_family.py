"""The hard family: what is said of it, by linear programming and by brute force."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

from paper.theory.hard_family import HardFamily, gap


def cheapest(features, deviations, direction):
    """Return min sum |w| sigma over all w that write c, squared, by linear programming."""
    both = np.vstack([features, -features])
    found = linprog(np.tile(deviations, 2), A_eq=both.T, b_eq=direction, method="highs")
    return found.fun**2


@pytest.mark.parametrize("d", [3, 4, 5])
@pytest.mark.parametrize("u", [0.01, 0.25])
def test_the_optimal_value_is_that_of_a_linear_program(d, u):
    family = HardFamily(d, rho=0.3)
    for couple in range(family.couples):
        found = cheapest(family.features, np.sqrt(family.variances(couple, u)), family.direction)
        assert found == pytest.approx(family.optimal_value(u), rel=1e-9)


@pytest.mark.parametrize("d", [3, 4, 6])
def test_which_variances_move(d):
    family, u = HardFamily(d), 0.2
    null = family.variances(None, u)
    assert set(null.tolist()) == {1.0, 3.0}
    for h in range(family.couples):
        twin = h + 1 if h % 2 == 0 else h - 1
        moved = np.zeros(family.n_actions)
        moved[[2 * h, 2 * h + 1]] = -gap(u)
        moved[[2 * twin, 2 * twin + 1]] = gap(u)
        np.testing.assert_allclose(family.variances(h, u) - null, moved, atol=1e-12)
        assert np.linalg.eigvalsh(family.matrix(h, u)).min() > 0.69


def test_counts_policy_and_direction():
    for d in (3, 5, 7):
        family = HardFamily(d, rho=0.7)
        assert family.n_actions == 2 * (d - 1) ** 2
        assert 2 * family.couples + 2 * (d - 1) == family.n_actions
        assert len(list(combinations(range(d - 1), 2))) * 2 == family.couples
        np.testing.assert_allclose(family.policy @ family.features, family.direction, atol=1e-12)
        assert family.policy.min() > 0
        assert family.policy.sum() == pytest.approx(1)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="d: must be at least 3; got 2"):
        HardFamily(2)
    with pytest.raises(ValueError, match="rho: must be strictly between"):
        HardFamily(3, rho=1.0)
    with pytest.raises(ValueError, match="couple: must be from 0 to 1; got 2"):
        HardFamily(3).matrix(2, 0.1)
