// Which strategy to use: a form that answers as speedlib's `advise` does, from the same table and
// words. Without this script, the page shows a table and the evidence instead.
const SpeedAdvice = (() => {
  const LIMITS = { actions: [2, 1e6], dimension: [2, 1e4], rounds: [1, 1e12] };
  const LABELS = { actions: "Actions", dimension: "Features", rounds: "Rounds in all" };
  // Milliseconds without a change before the answer is read aloud, since numbers are typed digit by digit.
  const PAUSE = 600;
  const START = { actions: 12, dimension: 6, rounds: 3000, noise: "unknown" };

  const grouped = (number) => String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  const root = (n) => Math.floor(Math.sqrt(n));
  const first = (n) => Math.ceil(4 * Math.log(n)) + 1;

  // The number of a rising grid nearest to top / bottom by ratio; of two, the larger.
  const nearest = (grid, top, bottom) =>
    grid.reduce((found, each, i) =>
      i && top * top >= grid[i - 1] * each * bottom * bottom ? each : found, grid[0]);

  const findCell = (size, table) => {
    const d = Math.min(size.dimension, size.actions);
    const dimension = nearest(table.dimensions, d, 1);
    const multiple = nearest(table.multiples, size.actions, d);
    const reached = table.rounds.filter((n) => n <= size.rounds);
    return {
      actions: dimension * multiple, dimension, rounds: reached.at(-1) ?? table.rounds[0],
    };
  };

  const applies = (key, size) => {
    if (key === "neyman") return size.dimension === 2 || size.actions <= size.dimension;
    if (key === "booked") return size.actions * first(size.rounds) < size.rounds;
    return true;
  };

  const filled = (text, size, more = {}) => {
    const d = Math.min(size.dimension, size.actions);
    const values = {
      actions: size.actions,
      dimension: d,
      rounds: size.rounds,
      support: d,
      explored: Math.min(size.actions, (d * (d + 1)) / 2),
      pilot: Math.max(1, Math.floor(root(size.rounds) / 2)),
      floor: root(size.rounds),
      root: root(size.rounds - 1) + 1,
      each: first(size.rounds),
      ...more,
    };
    return text.replace(/\{(\w+)\}/g, (all, name) => (name in values ? grouped(values[name]) : all));
  };

  const rounded = (value) => {
    let unit = 1;
    while (value >= 100 * unit) unit *= 10;
    return unit * Math.floor(value / unit + 0.5);
  };

  const lengthOf = (key, size, cell, words) => {
    const text = filled(words.strategies[key].length, size);
    if (key !== "practical" || !cell) return text;
    const most = Math.floor(size.rounds / 2);
    const [low, , high] = cell.exploration.map((share) =>
      Math.min(rounded(share * Math.sqrt(size.rounds)), most));
    return `${text}. ${filled(words.notes.length, size, { low, high })}`;
  };

  const notesOf = (key, size, measured, few, saving, table, words) => {
    const notes = [];
    if (few) notes.push(filled(words.notes.few, size, { least: table.rounds[0] }));
    else if (!measured) {
      const end = { dimension: table.dimensions.at(-1), multiple: table.multiples.at(-1) };
      notes.push(filled(words.notes.beyond, size, end));
    }
    if (measured) {
      if (key === "policy") notes.push(words.notes.nothing);
      if (key === "weighted") notes.push(words.notes.weights);
      notes.push(filled(words.notes.measured, measured));
      if (saving[2] > 1 && !["policy", "weighted"].includes(key)) notes.push(words.notes.loses);
    }
    return notes;
  };

  // The whole answer as plain data.
  const advise = ({ table, words }, size) => {
    const place = findCell(size, table);
    const cell = table.cells[`${place.actions},${place.dimension},${place.rounds}`];
    const d = Math.min(size.dimension, size.actions);
    const few = size.rounds < table.rounds[0];
    const beyond = d > table.dimensions.at(-1) || size.actions > table.multiples.at(-1) * d;
    let key, compared;
    if (size.noise === "known") key = compared = cell.known[0];
    else {
      key = (few ? [] : cell.order).find((each) => applies(each, size)) ?? "policy";
      compared = key === "policy" ? "practical" : key;
    }
    const measured = few || beyond ? null : place;
    const ranges = measured ? cell.strategies[compared] : [null, null, null];
    return {
      key,
      strategy: words.strategies[key].name,
      code: words.strategies[key].code,
      exploration: filled(words.strategies[key].exploration, size),
      length: lengthOf(key, size, measured && cell, words),
      compared: words.strategies[compared].name,
      saving: ranges[0],
      saving_average: ranges[1],
      saving_weighted: ranges[2],
      measured,
      notes: notesOf(key, size, measured, few, ranges[0], table, words),
      command: commandOf(words, words.strategies[compared].code, size.rounds),
    };
  };

  const commandOf = (words, code, rounds) => {
    const built = code.split("(")[0].split(".")[0];
    const names = [...new Set(["LinearBandit", "OnPolicy", "mse_curve", built])]
      .sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
    return words.command.join("\n")
      .replace("{names}", names.join(", ")).replace("{code}", code).replace("{rounds}", rounds);
  };

  // The fault of an input, in the words of the library; empty if there is none.
  const fault = (name, text) => {
    const [least, most] = LIMITS[name];
    if (!/^\d{1,15}$/.test(text)) return `${name}: expected a whole number; got ${text || "nothing"}`;
    if (+text < least) return `${name}: must be at least ${least}; got ${+text}`;
    if (+text > most) return `${name}: must be at most ${most}; got ${+text}`;
    return "";
  };

  const make = (tag, options = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), options);
    element.append(...children);
    return element;
  };
  const range = (three) => `${three[0].toFixed(2)} to ${three[2].toFixed(2)}`;

  const inShort = ({ key, strategy, saving }) => {
    const name = strategy.charAt(0).toUpperCase() + strategy.slice(1);
    if (key === "policy" || !saving) return `${name}.`;
    return `${name}: its error is ${range(saving)} times the error of running the policy.`;
  };

  // The elements of the answer; the evidence is copied from the lists of the page.
  const shown = (answer, box) => {
    const list = make("dl");
    const add = (head, ...content) =>
      list.append(make("dt", { textContent: head }), make("dd", {}, ...content));
    add("Use", make("code", { textContent: answer.code }));
    add("Explore", answer.exploration);
    add("How long", answer.length);
    if (answer.saving) {
      const head = answer.key === "policy"
        ? `Error of the next best, ${answer.compared}, relative to running the policy`
        : "Error, relative to running the policy";
      add(head,
        make("strong", { textContent: range(answer.saving) }), `, median `,
        `${answer.saving[1].toFixed(2)}. `,
        make("span", { className: "sb-muted", textContent:
          `Relative to the plain average of the policy's rewards: ${range(answer.saving_average)}. ` +
          "Relative to weighted least squares with the true noise: " +
          `${range(answer.saving_weighted)}.` }));
    }
    const reasons = make("ul");
    for (const note of answer.notes) reasons.append(make("li", { textContent: note }));
    const evidence = box.querySelectorAll(`.advice-for-${answer.key} li`);
    for (const item of evidence) reasons.append(item.cloneNode(true));
    if (reasons.children.length) add("Why", reasons);
    const code = make("pre", { tabIndex: 0 }, make("code", { textContent: answer.command }));
    return [list, make("p", { textContent: "To compute the error for your own features and policy:" }),
      code];
  };

  // "#use?actions=12&dimension=6&rounds=3000&noise=unknown"
  const read = () => {
    const [name, query] = location.hash.slice(1).split("?");
    return name === "use" && query ? Object.fromEntries(new URLSearchParams(query)) : {};
  };

  const start = (box) => {
    const data = JSON.parse(box.querySelector("script").textContent);
    const form = make("form", { className: "advice-form", id: "use" });
    const inputs = {};
    for (const [name, label] of Object.entries(LABELS)) {
      const [min, max] = LIMITS[name];
      const id = `advice-${name}`;
      const complaint = make("span", { id: `${id}-fault`, className: "advice-fault" });
      inputs[name] = make("input", { id, type: "number", min, max, step: 1, inputMode: "numeric" });
      inputs[name].setAttribute("aria-describedby", complaint.id);
      form.append(make("p", {}, make("label", { htmlFor: id, textContent: label }),
        inputs[name], complaint));
    }
    inputs.noise = make("select", { id: "advice-noise" },
      new Option("not known", "unknown"), new Option("known for every action", "known"));
    form.append(make("p", {}, make("label", { htmlFor: "advice-noise", textContent: "Noise" }),
      inputs.noise));
    const summary = make("p", { className: "advice-summary" });
    // Read aloud when typing pauses; the rest of the answer is only shown.
    const spoken = make("p", { className: "visually-hidden", role: "status" });
    let waiting;
    const say = (text) => {
      clearTimeout(waiting);
      waiting = setTimeout(() => { spoken.textContent = text; }, PAUSE);
    };
    const details = make("div");
    const output = make("div", { className: "advice-answer" }, summary, details);
    box.append(form, spoken, output);
    box.querySelector(".advice-plain").hidden = true;

    const set = (size) => {
      for (const [name, input] of Object.entries(inputs)) input.value = size[name];
      if (!inputs.noise.value) inputs.noise.value = START.noise;
    };
    const update = () => {
      const faults = [];
      for (const name of Object.keys(LIMITS)) {
        const text = fault(name, inputs[name].value.trim());
        document.getElementById(`advice-${name}-fault`).textContent = text;
        inputs[name].setAttribute("aria-invalid", String(Boolean(text)));
        if (text) faults.push(text);
      }
      output.hidden = faults.length > 0;
      if (faults.length) return void say(faults.join(". "));
      const size = { noise: inputs.noise.value };
      for (const name of Object.keys(LIMITS)) size[name] = +inputs[name].value;
      const answer = advise(data, size);
      summary.textContent = inShort(answer);
      say(summary.textContent);
      details.replaceChildren(...shown(answer, box));
      return size;
    };
    const changed = () => {
      const size = update();
      if (!size) return;
      const query = Object.keys(START).map((name) => `${name}=${size[name]}`).join("&");
      history.replaceState(null, "", `#use?${query}`);
    };
    const followed = () => {
      set({ ...START, ...read() });
      update();
    };
    // A link to another place on the page leaves what was typed.
    const moved = () => {
      if (location.hash.startsWith("#use?")) followed();
    };
    form.addEventListener("input", changed);
    form.addEventListener("submit", (event) => event.preventDefault());
    window.addEventListener("hashchange", moved);
    followed();
    if (location.hash.startsWith("#use?")) form.scrollIntoView();
  };

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll(".sb-advice").forEach(start);
  });
  return { advise, fault, data: (box) => JSON.parse(box.querySelector("script").textContent) };
})();
