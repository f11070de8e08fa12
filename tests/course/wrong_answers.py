"""Wrong answers to the first two hand-ins, with a piece of the feedback that each must get.

An answer takes the place of the whole cell of a task. It may use what the cells above leave, which
are run with their solutions.
"""

from __future__ import annotations

from typing import NamedTuple


class WrongAnswer(NamedTuple):
    """The task, the mistake in a few words, the cell, and a piece of the feedback."""

    task: str
    mistake: str
    source: str
    feedback: str


def function(head: str, *lines: str) -> str:
    """Return the source of a function."""
    return "\n    ".join([f"def {head}:", *lines])


MSE = "mse(counts, X, variances, c)"
ESTIMATE = "estimate(means, counts, X, variances, c)"
WLS = "theta = np.linalg.lstsq(X * k[:, None], means * k, rcond=None)[0]"
#: The best design for other noise, and its walk.
OTHER = (
    "other = optimal_design(X, {noise}, direction=c)\n"
    "w = np.zeros(6)\n"
    "w[other.support] = np.linalg.solve(X[other.support].T, c)"
)
LEGS = "legs = abs(w) * sigma\n"

FIRST_STEPS = [
    WrongAnswer("direction", "not answered", "c = ...", "still empty"),
    WrongAnswer("direction", "no weights", "c = X.mean(axis=0)", "equally often"),
    WrongAnswer("direction", "policy squared", "c = policy**2 @ X", "enters once"),
    WrongAnswer("direction", "divided by the policy", "c = (1 / policy) @ X", "divided by"),
    WrongAnswer("direction", "noise put in", "c = (policy * sigma) @ X", "noise does not enter"),
    WrongAnswer(
        "direction", "length one", "c = policy @ X\nc = c / np.linalg.norm(c)", "length counts"
    ),
    WrongAnswer("direction", "one entry an action", "c = policy * X[:, 0]", "shape"),
    WrongAnswer("direction", "another number", "c = policy @ X + 0.1", "but c @ theta is"),
    WrongAnswer(
        "counts",
        "noise forgotten",
        "counts = np.round(rounds * arms_policy)",
        "forgets the noise",
    ),
    WrongAnswer(
        "counts",
        "variance for deviation",
        "z = arms_policy * arms_sigma**2\ncounts = np.round(rounds * z / z.sum())",
        "used the variance",
    ),
    WrongAnswer(
        "counts",
        "as the paper prints it",
        "z = (arms_policy * arms_sigma) ** 2\ncounts = np.round(rounds * z / z.sum())",
        "which is a variance",
    ),
    WrongAnswer(
        "counts",
        "divided by the noise",
        "z = arms_policy / arms_sigma\ncounts = np.round(rounds * z / z.sum())",
        "do not divide",
    ),
    WrongAnswer(
        "counts",
        "policy forgotten",
        "counts = np.round(rounds * arms_sigma / arms_sigma.sum())",
        "by the noise alone",
    ),
    WrongAnswer("counts", "equal", "counts = np.full(4, rounds // 4)", "the same number of tries"),
    WrongAnswer(
        "counts",
        "rounded up",
        "z = arms_policy * arms_sigma\ncounts = np.ceil(rounds * z / z.sum())",
        "rounding up spends too much",
    ),
    WrongAnswer(
        "counts",
        "rounded down",
        "z = arms_policy * arms_sigma\ncounts = np.floor(rounds * z / z.sum())",
        "rounding down left",
    ),
    WrongAnswer(
        "counts",
        "not whole",
        "z = arms_policy * arms_sigma\ncounts = rounds * z / z.sum()",
        "cannot be split",
    ),
    WrongAnswer(
        "mse",
        "weights not squared",
        function(
            MSE,
            "A = X.T @ ((counts / np.sqrt(variances))[:, None] * X)",
            "return c @ np.linalg.solve(A, c)",
        ),
        "divided by sigma, the deviation",
    ),
    WrongAnswer(
        "mse",
        "noise forgotten",
        function(MSE, "return c @ np.linalg.inv(X.T @ (counts[:, None] * X)) @ c"),
        "left the noise out",
    ),
    WrongAnswer(
        "mse",
        "trace",
        function(MSE, "return np.trace(np.linalg.inv(X.T @ ((counts / variances)[:, None] * X)))"),
        "took the trace",
    ),
    WrongAnswer(
        "mse",
        "n twice",
        function(
            MSE,
            "A = X.T @ ((counts / variances)[:, None] * X)",
            "return c @ np.linalg.solve(A, c) / counts.sum()",
        ),
        "once too often",
    ),
    WrongAnswer(
        "mse",
        "shares in place of counts",
        function(
            MSE,
            "A = X.T @ ((counts / counts.sum() / variances)[:, None] * X)",
            "return c @ np.linalg.solve(A, c)",
        ),
        "n times the error",
    ),
    WrongAnswer(
        "mse",
        "not inverted",
        function(MSE, "return c @ (X.T @ ((counts / variances)[:, None] * X)) @ c"),
        "forgot to invert",
    ),
    WrongAnswer(
        "mse",
        "root",
        function(
            MSE,
            "A = X.T @ ((counts / variances)[:, None] * X)",
            "return np.sqrt(c @ np.linalg.solve(A, c))",
        ),
        "returned the root",
    ),
    WrongAnswer("mse", "nothing returned", function(MSE, "c @ c"), "returns nothing"),
    WrongAnswer(
        "estimate",
        "policy's average",
        function(ESTIMATE, "return policy @ means"),
        "averaged the mean rewards with the policy's shares",
    ),
    WrongAnswer(
        "estimate",
        "unweighted",
        function(ESTIMATE, "k = 1.0 * np.sqrt(counts)", WLS, "return c @ theta"),
        "unweighted",
    ),
    WrongAnswer(
        "estimate",
        "weights not squared",
        function(ESTIMATE, "k = np.sqrt(counts / np.sqrt(variances))", WLS, "return c @ theta"),
        "weights are not squared",
    ),
    WrongAnswer(
        "estimate",
        "multiplied by the variance",
        function(ESTIMATE, "k = np.sqrt(counts * variances)", WLS, "return c @ theta"),
        "so divide",
    ),
    WrongAnswer(
        "estimate",
        "tries forgotten",
        function(ESTIMATE, "k = np.sqrt((counts > 0) / variances)", WLS, "return c @ theta"),
        "how often each action was tried",
    ),
    WrongAnswer(
        "estimate",
        "shrunk",
        function(ESTIMATE, "k = np.sqrt(counts / variances)", WLS, "return 0.5 * c @ theta"),
        "is biased",
    ),
]

DESIGNS = [
    WrongAnswer("walk", "policy", "w = policy", "one walk of many"),
    WrongAnswer("walk", "noise forgotten", OTHER.format(noise="np.ones(6)"), "equally noisy"),
    WrongAnswer("walk", "variance for deviation", OTHER.format(noise="sigma**4"), "counts sigma"),
    WrongAnswer("walk", "least squares", "w = np.linalg.pinv(X.T) @ c", "least sum of squares"),
    WrongAnswer(
        "walk",
        "legs in place of weights",
        OTHER.format(noise="variances") + "\nw = w * sigma",
        "legs in steps",
    ),
    WrongAnswer(
        "walk",
        "sign dropped",
        OTHER.format(noise="variances") + "\nw = abs(w)",
        "dropped the sign",
    ),
    WrongAnswer(
        "walk",
        "shares in place of weights",
        "w = optimal_design(X, variances, direction=c).weights",
        "Your walk ends at",
    ),
    WrongAnswer("shares", "c in place of |u|", "shares = c / c.sum()", "one for each feature"),
    WrongAnswer("shares", "not normalised", "shares = abs(w) * sigma", "Divide them by their sum"),
    WrongAnswer(
        "shares",
        "signed",
        LEGS + "shares = w * sigma / legs.sum()",
        "cannot be negative",
    ),
    WrongAnswer("shares", "noise forgotten", "shares = abs(w) / abs(w).sum()", "forgot the noise"),
    WrongAnswer(
        "shares",
        "variance for deviation",
        "shares = abs(w) * variances / (abs(w) @ variances)",
        "used the variance",
    ),
    WrongAnswer(
        "shares", "squared", LEGS + "shares = legs**2 / (legs**2).sum()", "squared the legs"
    ),
    WrongAnswer(
        "shares",
        "normalised wrongly",
        LEGS + "shares = legs / np.linalg.norm(legs)",
        "normalised the squares",
    ),
    WrongAnswer("shares", "policy", "shares = policy", "the policy's shares"),
    WrongAnswer("shares", "equal", "shares = np.full(6, 1 / 6)", "per cent more rounds"),
    WrongAnswer(
        "slope", "downhill", "y = -optimal_design(X, variances, direction=c).dual", "downhill"
    ),
    WrongAnswer(
        "slope",
        "noise forgotten",
        "y = optimal_design(X, np.ones(6), direction=c).dual",
        "forgot the noise",
    ),
    WrongAnswer(
        "slope",
        "variance for deviation",
        "y = optimal_design(X, sigma**4, direction=c).dual",
        "divided by the variance",
    ),
    WrongAnswer(
        "slope",
        "too steep",
        "y = 2 * optimal_design(X, variances, direction=c).dual",
        "at most 1 is",
    ),
    WrongAnswer(
        "slope",
        "proves too little",
        "y = 0.8 * optimal_design(X, variances, direction=c).dual",
        "another slope proves more",
    ),
    WrongAnswer(
        "rounds",
        "off by one",
        "loss = pe_loss(policy, X, variances, direction=c)\n"
        "m = int(rounds * loss / (abs(w) @ sigma) ** 2)",
        "one round more",
    ),
    WrongAnswer(
        "rounds",
        "one too many",
        "loss = pe_loss(policy, X, variances, direction=c)\n"
        "m = int(rounds * loss / (abs(w) @ sigma) ** 2) + 2",
        "not the fewest",
    ),
    WrongAnswer(
        "rounds",
        "root taken",
        "loss = pe_loss(policy, X, variances, direction=c)\n"
        "m = round(rounds * float(np.sqrt(loss)) / (abs(w) @ sigma))",
        "compared deviations",
    ),
    WrongAnswer(
        "rounds",
        "wrong way round",
        "loss = pe_loss(policy, X, variances, direction=c)\n"
        "m = round(rounds * (abs(w) @ sigma) ** 2 / loss)",
        "wrong way round",
    ),
    WrongAnswer(
        "rounds",
        "plain average",
        "m = round(rounds * (policy @ variances) / (abs(w) @ sigma) ** 2)",
        "plain average",
    ),
    WrongAnswer("threshold", "variance", "threshold = (newcomer @ y) ** 2", "This is the variance"),
    WrongAnswer("threshold", "signed", "threshold = newcomer @ y", "cannot be negative"),
    WrongAnswer("threshold", "c for y", "threshold = abs(newcomer @ c)", "Use the slope y"),
    WrongAnswer("threshold", "inverted", "threshold = 1 / abs(newcomer @ y)", "inverted"),
    WrongAnswer(
        "threshold", "too large", "threshold = 1.2 * abs(newcomer @ y)", "does not shorten"
    ),
    WrongAnswer("threshold", "too small", "threshold = 0.8 * abs(newcomer @ y)", "still shortens"),
]
