"""Wrong answers to the third and fourth hand-in; those to the first two are in `wrong_answers`."""

from __future__ import annotations

from .wrong_answers import WrongAnswer, function

STRATEGY = "strategy(pull, X, policy, rounds)"
BACK = "back = np.linalg.inv(seen)\n"
FIT = (
    "squares = np.column_stack("
    "[looks[:, 0] ** 2, 2 * looks[:, 0] * looks[:, 1], looks[:, 1] ** 2])\n"
    "p, q, r = np.linalg.solve(squares, {scatter})\n"
    "Sigma_hat = np.array([[p, q], [q, r]])"
)

#: An action of each line, and another action on the line of the first.
LINES = (
    "angle = (np.arctan2(X[:, 1], X[:, 0]) % np.pi).round(6)\n"
    "values, first = np.unique(angle, return_index=True)\n"
)
NOISE = [
    WrongAnswer("looks", "d looks", LINES + "explored = list(first[:2])", "three unknowns"),
    WrongAnswer(
        "looks",
        "a parallel pair",
        LINES
        + "again = next(a for a in range(6) if a not in first)\n"
        + "twin = next(a for a in first if angle[a] == angle[again])\n"
        + "explored = [again, twin, next(a for a in first if a != twin)]",
        "are parallel",
    ),
    WrongAnswer("looks", "one more than needed", LINES + "explored = list(first)", "three are"),
    WrongAnswer("looks", "counted from one", "explored = [6, 1, 2]", "from 0 to 5"),
    WrongAnswer("looks", "twice", "explored = [0, 0, 1]", "listed twice"),
    WrongAnswer("looks", "not answered", "explored = ...", "still empty"),
    WrongAnswer(
        "smallest",
        "deviations",
        BACK + "Sigma = back @ np.diag(seen_sigma) @ back.T",
        "gives the deviations",
    ),
    WrongAnswer(
        "smallest",
        "uncorrelated",
        BACK + "Sigma = back @ np.diag(seen_sigma**2) @ back.T",
        "uncorrelated",
    ),
    WrongAnswer(
        "smallest",
        "largest",
        "k = np.sign(np.linalg.solve(seen.T, third))\n"
        "root = np.linalg.solve(seen, seen_sigma * k)\n"
        "Sigma = np.outer(root, root)",
        "largest variance",
    ),
    WrongAnswer(
        "smallest",
        "not positive semidefinite",
        BACK + "k = -np.prod(np.sign(np.linalg.solve(seen.T, third)))\n"
        "mixed = 1.2 * k * seen_sigma.prod()\n"
        "inner = np.diag(seen_sigma**2) + mixed * (1 - np.eye(2))\n"
        "Sigma = back @ inner @ back.T",
        "not positive semidefinite",
    ),
    WrongAnswer(
        "smallest",
        "not symmetric",
        "root = np.linalg.solve(seen, seen_sigma)\n"
        "Sigma = np.outer(root, root) + [[0, 1], [-1, 0]]",
        "must be symmetric",
    ),
    WrongAnswer("smallest", "disagrees", "Sigma = 100 * np.eye(2)", "Exploration found"),
    WrongAnswer(
        "fitted",
        "mean not subtracted",
        FIT.format(scatter="(rewards**2).mean(axis=1)"),
        "Subtract the mean",
    ),
    WrongAnswer(
        "fitted",
        "deviations",
        FIT.format(scatter="rewards.std(axis=1, ddof=1)"),
        "fitted the deviations",
    ),
    WrongAnswer(
        "fitted",
        "sums",
        FIT.format(scatter="60 * rewards.var(axis=1)"),
        "summed the squared residuals",
    ),
    WrongAnswer(
        "fitted",
        "all rounds for an action's own",
        FIT.format(scatter="rewards.var(axis=1) / 3"),
        "number of all rewards",
    ),
    WrongAnswer(
        "fitted",
        "variance of the mean",
        FIT.format(scatter="rewards.var(axis=1) / 60"),
        "variance of a mean",
    ),
    WrongAnswer(
        "fitted",
        "twice off the diagonal",
        FIT.format(scatter="rewards.var(axis=1, ddof=1)") + "\n"
        "Sigma_hat = Sigma_hat * [[1, 2], [2, 1]]",
        "twice too large",
    ),
    WrongAnswer("length", "the paper's", "length = round(np.sqrt(n))", "paper's √n"),
    WrongAnswer("length", "n for Γ", "length = n", "none is left"),
    WrongAnswer(
        "length",
        "no root",
        "b = length_policy * length_sigma / (length_policy @ length_sigma)\n"
        "length = round(2.5 * (b * (1 - b)).sum() * n)",
        "forgot the root",
    ),
    WrongAnswer(
        "length",
        "inverted",
        "b = length_policy * length_sigma / (length_policy @ length_sigma)\n"
        "length = round(np.sqrt(n / (2.5 * (b * (1 - b)).sum())))",
        "inverted ψ",
    ),
    WrongAnswer(
        "length",
        "at the policy",
        "b = length_policy\nlength = round(np.sqrt(n * 2.5 * (b * (1 - b)).sum()))",
        "at the policy's shares",
    ),
    WrongAnswer(
        "length",
        "both costs",
        "b = length_policy * length_sigma / (length_policy @ length_sigma)\n"
        "length = round(2 * np.sqrt(n * 2.5 * (b * (1 - b)).sum()))",
        "all the lost rounds",
    ),
]

AUDIT = [
    WrongAnswer(
        "policy-proof",
        "a true step",
        "step_14, X_14, sigma_14 = 1, np.eye(3), np.array([1.0, 2.0, 4.0])",
        "Step 1 holds",
    ),
    WrongAnswer(
        "policy-proof",
        "no such step",
        "step_14, X_14, sigma_14 = 0, np.eye(3), np.array([1.0, 2.0, 4.0])",
        "the number of a printed step, 1 to 5",
    ),
    WrongAnswer(
        "policy-proof",
        "an instance without deviations",
        "step_14, X_14, sigma_14 = 2, np.eye(3), np.array([1.0, 0.0, 4.0])",
        "sigma must be positive",
    ),
    WrongAnswer(
        "policy-proof",
        "an instance that breaks nothing",
        "step_14, X_14, sigma_14 = 4, [[1.0], [1.0], [1.0]], np.ones(3)",
        "Step 4 holds",
    ),
    WrongAnswer(
        "valley-proof",
        "a true step",
        "step_15, p_15, b_15, length_15 = 1, 0.3, 0.15, 50",
        "Step 1 holds",
    ),
    WrongAnswer(
        "valley-proof",
        "hypothesis broken",
        "step_15, p_15, b_15, length_15 = 3, 0.3, 0.9, 50",
        "as the hypotheses say",
    ),
    WrongAnswer(
        "valley-proof",
        "too long",
        "step_15, p_15, b_15, length_15 = 5, 0.3, 0.2, 10**6",
        "length must lie between",
    ),
    WrongAnswer(
        "valley-proof",
        "nothing to break",
        "step_15, p_15, b_15, length_15 = 4, 0.5, 0.5, 10",
        "Step 4 holds",
    ),
    WrongAnswer(
        "matrices-proof",
        "guess is right",
        "step_16, X_16 = 3, np.array([[1, 0], [0, 1], [1, 1]])\n"
        "sigma_16 = guess_16 = np.array([1.0, 2.0, 3.0])",
        "Step 3 holds",
    ),
    WrongAnswer(
        "matrices-proof",
        "parallel arrows",
        "step_16, X_16 = 3, np.array([[1, 1], [2, 2], [3, 3]])\n"
        "sigma_16, guess_16 = np.ones(3), np.array([1.0, 2.0, 3.0])",
        "not all be parallel",
    ),
    WrongAnswer(
        "printed",
        "where both agree",
        "policy_17 = 1 / printed_sigma / (1 / printed_sigma).sum()",
        "give the same shares",
    ),
    WrongAnswer("printed", "not a policy", "policy_17 = np.full(3, 0.5)", "must sum to 1"),
    WrongAnswer(
        "printed", "an action left out", "policy_17 = np.array([0.5, 0.5, 0])", "never plays"
    ),
    WrongAnswer(
        "convexity",
        "the same design twice",
        "first = second = np.full(5, 0.2)",
        "differ by at most 0",
    ),
    WrongAnswer(
        "convexity",
        "singular",
        "first, second = np.eye(5)[0], np.full(5, 0.2)",
        "is singular",
    ),
    WrongAnswer(
        "convexity",
        "where it is convex",
        "first = np.array([0.5, 0.2, 0.1, 0.1, 0.1])\nsecond = np.array([0.1, 0.1, 0.1, 0.2, 0.5])",
        "convex indeed",
    ),
    WrongAnswer(
        "convexity",
        "not shares",
        "first, second = np.full(5, 0.2), np.array([0.6, 0.6, -0.2, 0, 0])",
        "cannot be negative",
    ),
    WrongAnswer(
        "believed",
        "not positive semidefinite",
        "Sigma_19 = np.array([[1.0, 3.0], [3.0, 1.0]])",
        "must be positive definite",
    ),
    WrongAnswer(
        "believed",
        "singular",
        "across = np.array([X_19[2, 1], -X_19[2, 0]])\nSigma_19 = np.outer(across, across)",
        "is singular",
    ),
    WrongAnswer("believed", "no correlation", "Sigma_19 = np.eye(2)", "exploration is right"),
    WrongAnswer(
        "believed",
        "too little",
        "from paper.coursework.audit import over_oracle\n"
        "across = np.array([X_19[2, 1], -X_19[2, 0]])\n"
        "for part in np.geomspace(1e-3, 1e3, 200):\n"
        "    Sigma_19 = np.outer(across, across) + part * across @ across * np.eye(2)\n"
        "    if over_oracle(course.believed_problem(student), Sigma_19) < 1.3:\n"
        "        break",
        "times the oracle's rounds",
    ),
    WrongAnswer(
        "judgement", "short", "judgement = 'I would sign it: 100 per cent.'", "it needs at least"
    ),
    WrongAnswer(
        "judgement", "filled up", "judgement = 'very true indeed 1 ' * 40", "different words"
    ),
    WrongAnswer(
        "judgement",
        "no number",
        "judgement = ' '.join(a + b for a in 'abcdefghij' for b in 'klmnopqrst')",
        "with a number",
    ),
    WrongAnswer("judgement", "long", "judgement = 'word 1 ' * 200", "it may have"),
    WrongAnswer(
        "strategy",
        "budget overspent by one",
        function(
            STRATEGY,
            "first = pull(np.full(len(X), 10))",
            "rest = np.zeros(len(X), dtype=int)",
            "rest[0] = rounds - 10 * len(X) + 1",
            "return policy @ (first + pull(rest)).means",
        ),
        "spends too much",
    ),
    WrongAnswer(
        "strategy",
        "a budget for each call",
        function(
            STRATEGY,
            "first = pull(np.full(len(X), rounds // 5))",
            "return policy @ (first + pull(np.full(len(X), rounds // 5))).means",
        ),
        "0 rounds are left",
    ),
    WrongAnswer(
        "strategy",
        "runs the policy",
        function(STRATEGY, "return policy @ pull(np.round(rounds * policy)).means"),
        "times the mean squared error",
    ),
    WrongAnswer(
        "strategy",
        "a constant",
        function(STRATEGY, "return 0.0"),
        "times the mean squared error",
    ),
    WrongAnswer(
        "strategy",
        "nothing returned",
        function(STRATEGY, "pull(np.full(len(X), 10))"),
        "still empty",
    ),
    WrongAnswer(
        "strategy",
        "split tries",
        function(STRATEGY, "return policy @ pull(rounds * policy / 3).means"),
        "whole numbers",
    ),
]
