"""Every numerical tolerance of the library: what it is for, its value, and why that value.

Tolerances with the same meaning share one name; different tolerances have different names and give
their reasons. If a user may choose a tolerance, this module holds the default of the argument.
Where the only reason is that a value works in tests, the entry says so.

This module does not hold the ranges of accepted input (see the checks) or the sizes of steps and
working sets (see the methods). Nor does it hold NumPy's own cut-offs, EPS times the larger
dimension: these are used by `lstsq` in `solvers._simplex`, `fitting` and `measurements`, and by
`matrix_rank` in `solvers.multiplicative` and `measurements`.
"""

import sys

#: Distance from 1 to the next float: twice the largest relative error of one operation.
EPS = sys.float_info.epsilon

# --- rank and span ----------------------------------------------------------------------------
# A rank is judged by singular values relative to the largest, a span by what is left of a vector
# relative to its length. The more the numbers have gone through, the wider the tolerance.

#: Singular values of weighted rows, in the units given. Weights and units may make a direction
#: that counts smaller by any factor, so only what is rounding for the most part is cut: 450 EPS.
ROWS_RANK_TOLERANCE = 1e-13

#: What an action, at unit length, adds to the span of others. Wider than for weighted rows: all
#: have one length here, and a basis that adds less would leave its coefficients four digits.
ACTIONS_RANK_TOLERANCE = 1e-11

#: Singular values of the features where a strategy needs them all. Below, an estimate of some
#: direction would lose nine digits of 16, and a user with such features gets an error before the
#: first trial. Above, designs are found, one by one if need be (BATCH_RANK_TOLERANCE).
FEATURES_RANK_TOLERANCE = 1e-9

#: Singular values of quadratic features in whitened coordinates. Products of two features, and
#: whitening before, carry the errors of both; no genuine one is small in these coordinates.
QUADRATIC_RANK_TOLERANCE = 1e-9

#: Singular values of features below which no batch of smooth designs is tried: it works with
#: squares of features, so this is about the root of EPS. Problems solved one by one need no such
#: limit, since their coordinates are found in two passes.
BATCH_RANK_TOLERANCE = 1e-8

#: Eigenvalues of a second moment. They are squares of singular values: 1e-6 of the largest length.
MOMENT_RANK_TOLERANCE = 1e-12

#: Multiple of that share above which one pass has resolved a whole spectrum: its least eigenvalue
#: is then 1e-8 of the largest, and known to eight digits.
MOMENT_RESOLVED = 1e4

#: Multiple of that share below which a direction is none, after a second whitening: 450 EPS, so
#: rounding for the most part. A genuine one is above if points reach 3e-13 of the largest in it.
MOMENT_MISSING = 0.1

#: Eigenvalues of the information matrix in coordinates that nearly whiten it: below, they are
#: rounding (45 EPS). It only keeps a square root from zero; a design with less than half of it is
#: not judged (WHITENED).
INFORMATION_FLOOR = 1e-14

#: After the first pass all eigenvalues should be one. One below this was raised by the floor: that
#: design is solved on its own.
WHITENED = 0.5

#: Eigenvalues of normal equations, which square the condition: above this share, 12 digits of 16
#: are left; below, the rows themselves are decomposed.
WELL_CONDITIONED = 1e-4

#: What a direction, or a column of a root of K, may leave outside the span of the points and still
#: count as inside. A direction is often a sum of features, known to 15 digits before terms cancel;
#: a root of K has its own errors, and the span is known less well where features are nearly
#: dependent. Six digits for all this were found to be enough; with one, tests fail.
SPAN_TOLERANCE = 1e-9

#: What a quadratic feature may leave outside the span of those explored. Wider than for a
#: direction: singular values down to QUADRATIC_RANK_TOLERANCE leave the span itself known to 2e-7.
QUADRATIC_SPAN_TOLERANCE = 1e-6

#: By how much coefficients may miss the direction that they estimate. Wider than for a span: they
#: are solutions, with the errors of an inverse; a direction that is out of reach is missed by far.
ESTIMABLE_TOLERANCE = 1e-6

#: Coordinates of an action in a basis of others, relative to the largest: below, the basis does
#: without it. They are products of updated inverses, so wider than what rounds once.
COORDINATE_TOLERANCE = 1e-9

#: Singular values of actions of a vertex, at unit length, in a pseudo-inverse. They are
#: independent, so it only keeps a divisor from zero. It is what NumPy takes by itself.
INVERSE_CUT = 1e-15

#: Weights of a smooth design relative to the largest: below, the point is left out, and the
#: certificate says whether the design is as good without it.
VANISHING_WEIGHT = 1e-6

# --- prices and certificates ------------------------------------------------------------------

#: Efficiency that a PE design may miss. It is a vertex, hence exact up to rounding.
PE_EFFICIENCY = 1e-9

#: Efficiency that a design for a smooth criterion may miss. It comes from an iteration that has to
#: end; this much is one round in a million.
SMOOTH_EFFICIENCY = 1e-6

#: Gap for D below which a G-optimal design is sought no further. The largest variance of a design
#: misses its optimum by up to the root of what the determinant misses, so a default of 1e-6 may
#: need this much; rounding allows no more.
TIGHTEST_GAP = 1e-12

#: A price above one by less than this is not worth another round: it bounds what is still to gain.
PRICE_TOLERANCE = 1e-11

#: The same inside a working set: tighter, so what is left there never requires another round.
BASIC_PRICE_TOLERANCE = 1e-12

#: A price that exceeds one by less is computed from a fresh inverse before it is believed, since
#: forty updates of an inverse cost digits. That seven are left was found to hold. No result rests
#: on it: before the method ends, all prices are computed again.
DOUBTFUL_PRICE = 1e-7

#: Pushes off degenerate vertices, relative to the coefficients, one after another: large enough to
#: stand above rounding, or else small enough to keep the optimum.
PUSHES = (1e-7, 1e-9, 1e-11, 1e-13)

#: By what share a dual vector may fall short of the norm, because coefficients have the wrong sign,
#: without another stage: a tenth of what a price may exceed one by, so prices decide the gap.
SIGN_TOLERANCE = 1e-12

#: Relative gap or residual above which one problem of a batch is solved again on its own: what the
#: batch can promise where nothing is ill-conditioned.
BATCH_GAP_TOLERANCE = 1e-11

#: Relative residual of the equations up to which a certificate is believed at all. Refined
#: coefficients leave a few EPS, and those of no solution far more; the value between was found to
#: work, and tests guard it.
RESIDUAL_TOLERANCE = 1e-11

#: Multiple of what rounding the direction may change coefficients by, where it has to be moved into
#: their span and what is nearest depends on units. Found to work for all units tried: tests in
#: exact arithmetic guard it, and fail with a margin of one.
DIRECTION_MARGIN = 10.0

#: Efficiency that a design within limits may miss: it comes from an interior-point method, whose
#: shares are never quite on their bounds.
LIMITED_EFFICIENCY = 1e-8

#: Gap at which that method ends: far below, so shares near a bound can be put on it afterwards.
LIMITED_GOAL = 1e-11

#: Shares of a bound below which a share is put on it, one after the other from the boldest. The
#: certificate says whether the design is as good, so none of them can do harm.
SNAPS = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)

#: Share by which a design may exceed its limits, or limits miss a sum of 1: as for a policy.
LIMIT_TOLERANCE = 1e-8

#: Relative growth of a ratio below which Dinkelbach's method has ended: what is left is added to
#: its upper bound.
RATIO_TOLERANCE = 1e-14

# --- rounding errors --------------------------------------------------------------------------
# Multiples of EPS, relative to the sum of the absolute values of the terms. Certificates that rest
# on them are tested against exact arithmetic.

#: A price: those next to the highest are summed in twice the precision, so one rounding is left. In
#: a batch, where prices are plain products, tested against exact values.
PRICE_ROUNDING = EPS

#: An entry of a direction as it was given: to the nearest float.
ENTRY_ROUNDING = EPS / 2

#: A product of matrices, entry by entry. The worst case up to 8 terms; beyond, errors of unlike
#: signs grow like a root.
PRODUCT_ROUNDING = 4 * EPS

#: A singular value or pivot, for each dimension and relative to the largest: what a backward stable
#: factorisation may leave of a zero.
FACTOR_ROUNDING = 4 * EPS

#: A mean over any number of actions: wider than for a product of few terms.
MEAN_ROUNDING = 8 * EPS

#: A solution by an inverse, relative to all terms that it sums: two products, one after the other.
SOLUTION_ROUNDING = 16 * EPS

#: An image in coordinates that were found in two passes, with their own errors, and then squared.
IMAGE_ROUNDING = 32 * EPS

#: A barrier function near its optimum, where a step may raise it by rounding alone.
BARRIER_ROUNDING = 1e-12

# --- safeguards of a method: no rounding errors, and no result rests on them -------------------

#: Ridge of Newton's system, as a share of its diagonal: copies of a point make it singular. Some
#: thousand EPS, so that rounding cannot undo it; a step changes as little, and an optimum not at
#: all.
COPIES_RIDGE = 1e-12

#: Smallest gap that a path starts from: a few EPS, since the weight of a barrier must be positive.
LEAST_GAP = 1e-15

#: In place of a divisor that may be zero, where the quotient is cut to one anyway; and the share
#: of an action that has none.
NO_LENGTH = 1e-300

# --- statistics, and what users give ----------------------------------------------------------

#: Miss of a policy's sum. Probabilities printed with nine digits miss no more for 20 actions in the
#: worst case, and for a hundred as a rule; floats miss less, even a million of them.
POLICY_TOLERANCE = 1e-8

#: The same for a policy in single precision, such as a softmax of float32: its entries are rounded
#: to 6e-8, and exponentials and sums in that precision leave some more; 80 of its EPS in all.
SINGLE_POLICY_TOLERANCE = 1e-5

#: The same in half precision: ten of its EPS. Such a policy is known to three digits at best.
HALF_POLICY_TOLERANCE = 1e-2

#: Excess of two probabilities over one, or what an entry of a policy may lie below zero, relative
#: to the largest: decimal fractions as typed, and what is left of them, so much less than above. In
#: lower precision it is the tolerance of the sum.
PROBABILITY_TOLERANCE = 1e-12

#: Skewness, or a negative eigenvalue, of a positive semidefinite matrix with a unit diagonal: such
#: matrices come as products of d terms, or printed with ten digits.
PSD_TOLERANCE = 1e-10

#: Disagreement of variances with the matrix that they are said to come from, relative to the
#: largest: they were printed with ten digits, or computed by products in another order.
VARIANCE_AGREEMENT = 1e-9

#: Spread of a column relative to its entries: below, it is a constant that has been through
#: arithmetic.
CONSTANT_TOLERANCE = 1e-12

#: Spread of what features leave unexplained relative to the target's: below, there is no noise but
#: rounding. Wider than for a constant, since a regression was solved in between.
NOISELESS_TOLERANCE = 1e-9

#: Slack in pulls: 0.29 * 100 is 28.999999999999996 in floats, and must still give 29 pulls. Good
#: for budgets up to about 1e7; beyond, floats are coarser than this and a pull may be lost.
PULL_SLACK = 1e-9

#: Share by which the costs of pulls may exceed a budget: 1,000 pulls at 0.1 cost 100 in money, and
#: up to 100.00000000000001 in floats. A few thousand additions do not reach it.
MONEY_SLACK = 1e-12

#: Shares of pulls that differ by this much, relative, are tied. Weights that are equal by symmetry
#: come out of a solver with differences of a few 1e-16, other ones on another processor.
TIE_TOLERANCE = 1e-12

#: Share by which a power of the budget may fall short of a whole number: relative, unlike above.
POWER_SLACK = 1e-12

#: Variance of every action where all residuals vanish, so that weights stay finite. Only ratios
#: decide designs and weights; a standard error computed from it is about 1e-12 over the root of the
#: rounds and says: none.
VANISHING_VARIANCE = 1e-24

#: The mean of k equal numbers, added up one by one, is off by at most this share of it for each of
#: them: a standard deviation of k rewards below k times this share may be rounding alone.
ROUNDING = 2.3e-16

#: A residual of this share of the rewards is what a fit through all of them leaves by rounding.
NO_DEVIATION = 1e-13

#: Standard deviation of rewards relative to the largest of any action: up to here it may be what
#: rounding leaves of equal rewards, which do not say that there is no noise. Noise so small takes
#: one pull in 10^12, so few are wasted where it is genuine.
LEAST_SCATTER = 1e-12

#: A second regression takes no first variance for smaller than this share of the mean square, since
#: it may be small by chance. An action then weighs at most a hundred times what one of mean
#: variance weighs, and ten thousand times in the regression of squares, where weights are squares
#: of these.
REWEIGHTING_FLOOR = 0.01

#: Optimality of a positive semidefinite regression: its error is far below that of any data.
PSD_OPTIMALITY = 1e-8

#: The same where a saving is estimated, in each of its many repetitions: variances are then off by
#: some hundredths of what chance puts them off, at a quarter of the time.
SAVING_OPTIMALITY = 1e-4

#: Share of the mean squared residual to which a saving raises its variances: enough to divide by. A
#: strategy's own floor, which guards its design, would hide how precise quiet actions make it.
SAVING_FLOOR = 1e-6

#: Relative change of the parameter at which the fit of a model ends: far below its standard error.
MODEL_CHANGE = 1e-6

#: Relative fall of the objective at which a fit of factors ends. Its steps are slow, and its
#: factors are one local optimum of many, so more digits would say no more.
FACTORS_CHANGE = 1e-5

#: Relative difference between a stored direction and the mean feature of the stored policy, beyond
#: which the text was changed: far above rounding on another machine, far below an edit.
STORED_DIRECTION = 1e-6

#: The same for means and scatters that were pooled in another order. With means a million times the
#: noise, a pooled scatter still keeps seven digits.
STORED_MOMENTS = 1e-6

#: The same for variances, relative to the largest: another machine, or a later version, may end
#: their iterative fit elsewhere.
STORED_VARIANCES = 1e-4

# --- sizes of blocks of work, no tolerances ---------------------------------------------------

#: Rows that are worked on at a time: a block and its product stay in the cache.
ROWS_AT_ONCE = 8192
