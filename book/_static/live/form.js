// The parameters at the foot of a page: says at once what is wrong with a value, and writes the command that runs the
// notebook with the values typed. In a live book it can also run them here: it fetches the scripts for that when the
// reader asks for a kernel.
SpeedLive.form = (() => {
  "use strict";

  const { commands, digest, read, strip } = SpeedLive.values;
  const KEY = "sb-live";
  const HERE = document.currentScript.src.replace(/[^/]*$/, "");
  const LATER = ["outputs.js", "run.js"];

  const element = (tag, settings = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), settings);
    made.append(...children);
    return made;
  };

  // One parameter: its field, and what is in it.
  class Parameter {
    constructor(field) {
      this.field = field;
      this.name = field.name;
      this.schema = JSON.parse(field.dataset.schema);
      this.default = field.dataset.default;
      this.error = document.getElementById(`${field.id}-error`);
      this.unchanged = digest(read(this.schema, this.default).value);
    }

    // As the command line gets it.
    get text() {
      const text = this.field.value;
      return this.schema.type === "str" ? text : strip(text);
    }

    check() {
      const { value, fault } = read(this.schema, this.text);
      this.fault = fault;
      this.changed = fault === undefined && digest(value) !== this.unchanged;
      this.field.toggleAttribute("aria-invalid", false);
      if (fault) this.field.setAttribute("aria-invalid", "true");
      this.field.classList.toggle("sb-changed", this.changed);
      if (this.error.textContent !== (fault ?? "")) this.error.textContent = fault ?? "";
      this.error.hidden = !fault;
    }

    reset() {
      this.field.value = this.default;
    }
  }

  class Form {
    constructor(form) {
      this.form = form;
      this.foot = form.closest(".sb-foot");
      this.parameters = [...form.querySelectorAll("[data-schema]")].map((field) => new Parameter(field));
      form.addEventListener("input", () => this.update());
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.live?.run();
      });
      // A browser may have kept what was typed before the page was left.
      for (const parameter of this.parameters) parameter.reset();
      this.reset = element("button", { type: "button", className: "sb-button", textContent: "Book's values", hidden: true });
      this.reset.addEventListener("click", () => this.clear());
      form.append(this.reset);
    }

    get faulty() {
      return this.parameters.filter((parameter) => parameter.fault !== undefined);
    }

    // [name, text] of the parameters that differ from the notebook's own values.
    get given() {
      return this.parameters.filter((parameter) => parameter.changed).map(({ name, text }) => [name, text]);
    }

    update() {
      for (const parameter of this.parameters) parameter.check();
      this.reset.hidden = this.parameters.every(({ text, default: own }) => text === own);
      const written = commands(this.form.dataset.notebook, this.given);
      const faulty = this.faulty.map(({ name }) => name).join(", ");
      for (const [shell, language] of [["posix", "bash"], ["powershell", "powershell"]]) {
        const code = this.foot.querySelector(`.highlight-${language} pre`);
        if (code) code.textContent = faulty ? `# first correct: ${faulty}` : written[shell];
      }
      this.form.dispatchEvent(new CustomEvent("sb-values"));
    }

    clear() {
      for (const parameter of this.parameters) parameter.reset();
      this.update();
      this.parameters[0]?.field.closest("details").querySelector("summary").focus();
    }

    // Show a field that needs attention.
    point(parameter) {
      parameter.field.closest("details").open = true;
      parameter.field.focus();
    }
  }

  const fetchScript = (source) =>
    new Promise((done, failed) => {
      const script = element("script", { src: source, onload: done });
      script.onerror = () => failed(new Error(`${source} cannot be loaded`));
      document.head.append(script);
    });

  // In a live book: a button for a kernel, and a way here from the top of the page.
  const offer = (form, key) => {
    const note = form.foot.querySelector(".sb-live-note");
    const start = element("button", { type: "button", className: "sb-button sb-first", textContent: "Start a kernel" });
    const status = element("p", { className: "sb-live-state" });
    status.setAttribute("role", "status");
    const panel = element("div", { className: "sb-live-start" }, start, status);
    note.replaceWith(panel);
    const jump = element("a", { href: "#run-this-page", textContent: "Change a number on this page" });
    jump.addEventListener("click", () => (form.form.closest("details").open = true));
    const above = ["sb-need", "sb-finding"].map((name) => document.querySelector(`.bd-article .${name}`)).find(Boolean);
    above?.after(element("p", { className: "sb-live-jump" }, jump));
    form.form.closest("details").open = true;
    start.addEventListener("click", async () => {
      start.disabled = true;
      status.textContent = "Starting a kernel …";
      try {
        for (const name of LATER) if (!SpeedLive[name.slice(0, -3)]) await fetchScript(HERE + name);
        form.live ??= new SpeedLive.run.Live(form, new URLSearchParams(key));
        await form.live.start();
        panel.hidden = true;
      } catch (error) {
        status.textContent = error.message;
      }
      start.disabled = false;
    });
    form.offer = { panel, start, status };
  };

  const begin = () => {
    for (const each of document.querySelectorAll("form.sb-run")) {
      const form = new Form(each);
      SpeedLive.page = form;
      const key = window.location.protocol.startsWith("http") && window.sessionStorage.getItem(KEY);
      if (key) offer(form, key);
    }
  };

  document.addEventListener("DOMContentLoaded", begin);
  return { Form, element, fetchScript };
})();
