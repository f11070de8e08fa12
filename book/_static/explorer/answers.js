// The numbers and sentences that are the answers. They can be hidden, for a class that predicts first: then nothing that
// is drawn, said or spoken gives them away.
(function (global) {
  "use strict";

  const EXPLORER = (global.SpeedExplorer = global.SpeedExplorer || {});
  const { words } = EXPLORER;
  const { element } = EXPLORER.controls;
  // What is given stands in the key: the arrows and their noise.
  const GIVEN = ["sbx-swatch-arrow", "sbx-swatch-noise", "sbx-swatch-true"];
  const Answers = {};

  // The same model without what follows from the arrows, the noise and the policy.
  function conceal(model) {
    const nothing = model.state.arrows.map(() => null);
    return {
      ...model,
      concealed: true,
      exit: null,
      hull: [],
      signs: nothing.map(() => 0),
      chosen: nothing.map(() => false),
      best: { weights: nothing },
      seen: model.seen && { family: [], Sigma: null, differs: true, weights: nothing, variances: nothing },
    };
  }

  Answers.hideAnswers = function (hidden) {
    this.hidden = hidden;
    this.box.dataset.answers = hidden ? "hidden" : "shown";
    // A caption may tell what comes out.
    this.figure.classList.toggle("sb-answers-hidden", hidden);
    this.answers.textContent = hidden ? "Show the answers" : "Hide the answers";
    // Some titles do, too.
    [...this.menu.options].forEach((option, i) => {
      option.text = hidden ? `Example ${i + 1}` : EXPLORER.state.preset(option.value).title;
    });
    this.live.textContent = "";
  };

  Answers.switchAnswers = function () {
    this.hideAnswers(!this.hidden);
    this.changed(true);
  };

  Answers.say = function (model, design) {
    if (this.curve && !design) {
      if (this.curve.size[0]) this.curve.render(model);
      this.length.textContent = words.length(model, EXPLORER.curveValues(model));
    }
    this.numbers(model, design);
    this.says.textContent = design ? words.design(model) : words.explore(model);
  };

  Answers.numbers = function (model, design) {
    const { best, policyLoss, seen } = model;
    const line = element("span", "sbx-losses");
    line.append(
      "Error × rounds: ",
      element("b", "sbx-best-word", words.decimals(best.value)),
      " for the best design, ",
      element("b", design ? "sbx-policy-word" : "sbx-believed-word", words.decimals(design ? policyLoss : seen.trueLoss)),
      design ? " for the policy." : " for the design from the estimate.",
    );
    // The sentence, with its number in large letters.
    const said = (design ? words.price(model) : words.loss(model)).split(/([\d.,]+ times)/);
    this.result.replaceChildren(...said.map((part, i) => (i % 2 ? element("strong", "sbx-factor", part) : part)), line);
  };

  // In the places of the numbers and sentences.
  Answers.sayNothing = function () {
    this.result.replaceChildren();
    if (this.length) this.length.textContent = "";
    if (this.note) this.note.textContent = "";
    this.noted = null;
    this.says.textContent = "The answers are hidden. Predict first, then show them.";
  };

  EXPLORER.answers = { GIVEN, conceal, Answers };
})(typeof globalThis === "undefined" ? this : globalThis);
