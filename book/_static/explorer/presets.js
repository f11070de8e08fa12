/*
 * The presets of the explorer. The text after the equals sign is JSON, which the book's directive also reads: see
 * speedbook/press/sphinx/explorer.py. tests/paper/test_explorer_presets.py compares every number with the library.
 */
var SpeedPresets = {
  "unit-ball": {
    "id": "unit-ball",
    "title": "Unit ball",
    "note": "The environment of Figure 1a: five actions of length one. The policy plays the second, which is the noisiest, one time in ten.",
    "try": "Drag a square to turn the noise ellipse: the exit moves along the edge, and the shares change.",
    "state": {
      "arrows": [
        [1, 0],
        [0, 1],
        [0.9659258262890683, 0.25881904510252074],
        [0.8660254037844387, 0.49999999999999994],
        [0.7071067811865476, 0.7071067811865475]
      ],
      "noise": { "Sigma": [0.05, 0, 0.35] },
      "policy": [0.8, 0.1, 0.03333333333333332, 0.03333333333333332, 0.03333333333333332],
      "explored": [0, 4],
      "n": 1000,
      "Gamma": 31,
      "psd": false,
      "tab": "design"
    }
  },
  "motivating": {
    "id": "motivating",
    "title": "Motivating example",
    "note": "The paper's motivating example in the plane. Its 98 equal actions along the diagonal are drawn as one, with the sum of their shares.",
    "try": "Change the policy's bars: as long as c lies between arrows 1 and 3, the best design never tries action 2.",
    "state": {
      "arrows": [
        [1, 0],
        [0, 1],
        [0.7071067811865476, 0.7071067811865476]
      ],
      "noise": { "Sigma": [0.05, 0, 0.35] },
      "policy": [0.9, 0.0010101010101010099, 0.09898989898989898],
      "explored": [0, 2],
      "n": 1000,
      "Gamma": 31,
      "psd": false,
      "tab": "design"
    }
  },
  "theorem-1": {
    "id": "theorem-1",
    "title": "Counterexample to Theorem 1",
    "note": "The third action has the variance 4. If you explore only the first two, it is estimated as 25, however long you explore.",
    "try": "Tick the third action too: three looks determine all three unknowns, and the design becomes the best one.",
    "tryTab": "explore",
    "state": {
      "arrows": [
        [1, 0],
        [0, 1],
        [1, 1]
      ],
      "noise": { "Sigma": [9, -10.5, 16] },
      "policy": [0.5, 0.25, 0.25],
      "explored": [0, 1],
      "n": 1000,
      "Gamma": 31,
      "psd": false,
      "tab": "design"
    }
  },
  "lower-bound": {
    "id": "lower-bound",
    "title": "Lower bound",
    "note": "The environment in the proof of Theorem 2, in the plane and under its first hypothesis: the standard deviation of each action equals its mean reward.",
    "try": "Tick Σ ⪰ 0 and explore two actions at a time. If one of them is the first, the design needs up to three per cent more rounds than the best; otherwise it is as good as the best.",
    "tryTab": "explore",
    "state": {
      "arrows": [
        [1, 0],
        [0, 1],
        [0.025, 0.25],
        [0.02, 0.5]
      ],
      "noise": { "Sigma": [1, 0.05, 0.0025000000000000005] },
      "policy": [0.25, 0.25, 0.25, 0.25],
      "explored": [1, 2],
      "n": 1000,
      "Gamma": 31,
      "psd": false,
      "tab": "design"
    }
  },
  "two-looks": {
    "id": "two-looks",
    "title": "Three unknowns, two looks",
    "note": "An ellipse has three numbers, and two explored arrows determine only two of them. The fit of least norm then gives one arrow a negative variance.",
    "try": "Tick Σ ⪰ 0, or explore one more arrow: the design from the estimate then needs fewer rounds.",
    "tryTab": "explore",
    "state": {
      "arrows": [
        [1, 0],
        [0, 1],
        [0.8, 0.8],
        [-0.6, 0.8]
      ],
      "noise": { "Sigma": [1, -0.8, 1] },
      "policy": [0.4, 0.2, 0.3, 0.1],
      "explored": [0, 2],
      "n": 1000,
      "Gamma": 31,
      "psd": false,
      "tab": "design"
    }
  },
  "loud-arrow": {
    "id": "loud-arrow",
    "title": "One noisy arrow",
    "note": "The policy mostly plays the noisiest arrow. The best design never tries it, because the other two arrows determine the same value with less noise.",
    "try": "Make the third action quieter until the best design tries it.",
    "state": {
      "arrows": [
        [1, 0],
        [0, 1],
        [0.7, 0.7]
      ],
      "noise": { "sigma": [1, 1, 4] },
      "policy": [0.1, 0.1, 0.8],
      "explored": [0, 1],
      "n": 1000,
      "Gamma": 31,
      "psd": false,
      "tab": "design"
    }
  },
  "one-hot": {
    "id": "one-hot",
    "title": "One arm per axis",
    "note": "The first two actions say nothing about each other, so each is tried in proportion to its share in the policy times its noise. The third action is never worth a round.",
    "try": "Make the second action noisier: the best design tries it more often.",
    "state": {
      "arrows": [
        [1, 0],
        [0, 1],
        [0, 0.5]
      ],
      "noise": { "sigma": [1, 2, 2] },
      "policy": [0.5, 0.5, 0],
      "explored": [0, 1],
      "n": 1000,
      "Gamma": 31,
      "psd": false,
      "tab": "design"
    }
  }
};
