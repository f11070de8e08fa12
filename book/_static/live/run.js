// Runs the cells of the page's notebook in a kernel of the page's own, to which thebe connects it. What the notebook
// is, and what it displays, comes from the book's copy of it; how a value is read and a number written decides the
// kernel (speedbook/press/live_run.py).
SpeedLive.run = (() => {
  "use strict";

  const { element, fetchScript } = SpeedLive.form;
  const THEBE = "/_live/thebe/index.js";
  const HELPER = '__import__("speedbook.press.live_run", fromlist=["values"])';
  const GONE = "The live book has ended, or this window has lost it. Run `make live` again, and open the address that it prints.";
  const REFUSED = "The live book refuses this window's key. Open the address that `make live` printed last.";

  // A text or a structure of texts as Python reads it.
  const python = (value) => JSON.stringify(value);
  const asPython = (value) => `__import__("json").loads(${python(JSON.stringify(value))})`;
  const source = (cell) => [cell.source].flat().join("");
  const tagged = (cell, tag) => (cell.metadata.tags ?? []).includes(tag);

  class Failed extends Error {}

  // The state of an output list after a message of the kernel.
  const collect = (outputs, { header, content }) => {
    const type = header.msg_type;
    const last = outputs.at(-1);
    if (type === "stream") {
      if (last?.type === "stream" && last.name === content.name) last.text += content.text;
      else outputs.push({ type, name: content.name, text: content.text });
    } else if (type === "display_data" || type === "execute_result") {
      outputs.push({ type, data: content.data, metadata: content.metadata, key: content.transient?.display_id });
    } else if (type === "update_display_data") {
      const same = outputs.filter((output) => output.key && output.key === content.transient?.display_id);
      for (const output of same) Object.assign(output, { data: content.data, metadata: content.metadata });
    } else if (type === "clear_output") outputs.length = 0;
    else if (type === "error") outputs.push({ type, ...content });
  };

  // A kernel of this page alone.
  class Kernel {
    constructor(key, folder) {
      this.token = key.get("token");
      this.address = `http://127.0.0.1:${key.get("port")}/`;
      this.folder = folder;
    }

    async ask(path, method = "GET", extra = {}) {
      const headers = { Authorization: `token ${this.token}` };
      return fetch(this.address + path, { method, headers, ...extra });
    }

    async start() {
      const answer = await this.ask("api/kernels").catch(() => undefined);
      if (!answer?.ok) throw new Failed((await this.there()) ? REFUSED : GONE);
      if (!window.thebeCore) await fetchScript(THEBE);
      const { api } = window.thebeCore;
      const config = api.makeConfiguration({
        useBinder: false,
        useJupyterLite: false,
        mathjaxUrl: false,
        savedSessionOptions: { enabled: false },
        // Jupyter gives each path one kernel, and runs it in the path's folder.
        kernelOptions: { kernelName: "python3", path: `${this.folder}live-${crypto.randomUUID()}.ipynb` },
        serverSettings: {
          baseUrl: this.address,
          wsUrl: this.address.replace("http", "ws"),
          token: this.token,
          appendToken: true,
        },
      });
      this.server = api.makeServer(config);
      this.server.connectToJupyterServer();
      await this.server.ready;
      this.session = await this.server.startNewSession(api.makeRenderMimeRegistry(config.mathjax));
    }

    get lost() {
      return this.gone || !this.session?.kernel || this.session.kernel.isDisposed || this.session.kernel.status === "dead";
    }

    // Run code; return what it displays and whether it succeeded.
    async execute(code) {
      if (this.lost) throw new Failed("The kernel has ended. Start another one.");
      const future = this.session.kernel.requestExecute({ code, allow_stdin: false, stop_on_error: true });
      const outputs = [];
      future.onIOPub = (message) => collect(outputs, message);
      const reply = await this.unlessLost(future.done);
      return { outputs, well: reply.content.status === "ok" };
    }

    // Wait, but not for a server or a kernel that is no longer there: thebe would try for minutes to reach them again.
    async unlessLost(answer) {
      let watch;
      const loss = new Promise((_, failed) => {
        watch = setInterval(async () => {
          if (!this.lost && this.session.kernel.connectionStatus === "connected") return;
          this.gone = this.lost || !(await this.there());
          if (this.gone) failed(new Failed(GONE));
        }, 1000);
      });
      answer.catch(() => {});
      try {
        return await Promise.race([answer, loss]);
      } finally {
        clearInterval(watch);
      }
    }

    // Whether the server is there: this answer needs no key.
    there() {
      return fetch(`${this.address}api`).then(() => true, () => false);
    }

    // Run code of ours; return the JSON that it displays.
    async call(code) {
      const { outputs, well } = await this.execute(code);
      if (!well) throw new Failed(outputs.find(({ type }) => type === "error")?.evalue ?? "The kernel has failed.");
      return outputs.find((output) => output.data?.["application/json"])?.data["application/json"];
    }

    interrupt() {
      return this.session?.kernel?.interrupt();
    }

    // The page is left: its kernel must not stay.
    leave() {
      if (this.lost) return;
      this.ask(`api/sessions/${this.session.id}`, "DELETE", { keepalive: true }).catch(() => {});
    }
  }

  // The bar at the foot of the window.
  class Bar {
    constructor() {
      const button = (text, first) => element("button", { type: "button", className: `sb-button${first ? " sb-first" : ""}`, textContent: text });
      this.run = button("Run", true);
      this.stop = button("Stop");
      this.reset = button("Back to the book's values");
      this.values = element("a", { href: "#run-this-page", textContent: "Change values" });
      this.title = element("strong", { className: "sb-live-title" });
      this.about = element("span", { className: "sb-live-about" });
      this.status = element("p", { className: "sb-live-state" });
      this.status.setAttribute("role", "status");
      this.progress = element("progress", { max: 1, value: 0 });
      this.progress.setAttribute("aria-label", "Cells that have run");
      const buttons = element("div", { className: "sb-live-buttons" }, this.run, this.stop, this.reset, this.values);
      const picture = document.querySelector(".bd-article .tag_run-lead-picture figure[id]");
      if (picture) buttons.append(element("a", { href: `#${picture.id}`, textContent: "See the picture" }));
      this.box = element("section", { className: "sb-live-bar" }, element("p", {}, this.title, " ", this.about), this.status, this.progress, buttons);
      this.box.setAttribute("aria-label", "Run this page");
      this.about.hidden = this.title.hidden = true;
      document.body.append(this.box);
      this.working(false);
      this.reset.hidden = true;
      // The bar must not cover the end of the page.
      new ResizeObserver(() => (document.body.style.paddingBottom = this.box.isConnected ? `${this.box.offsetHeight}px` : "")).observe(this.box);
    }

    working(busy) {
      this.run.disabled = busy;
      this.stop.hidden = this.progress.hidden = !busy;
    }

    say(text) {
      this.status.textContent = text;
    }

    // What the page shows; nothing for the book's own results.
    mark(title, about = "") {
      this.title.textContent = title;
      this.about.textContent = about;
      this.title.hidden = this.about.hidden = !title;
      this.reset.hidden = !title;
      this.box.classList.toggle("sb-yours", Boolean(title));
      document.documentElement.classList.toggle("sb-yours", Boolean(title));
    }
  }

  class Live {
    constructor(form, key) {
      this.form = form;
      this.key = key;
      this.page = DOCUMENTATION_OPTIONS.pagename;
      window.addEventListener("pagehide", () => this.kernel?.leave());
    }

    async load() {
      const address = `${document.documentElement.dataset.content_root}_sources/${this.page}.ipynb`;
      const answer = await fetch(address);
      if (!answer.ok) throw new Failed(`The book has no notebook ${this.page}.`);
      this.notebook = await answer.json();
      this.cells = this.notebook.cells.filter((cell) => cell.cell_type === "code" && source(cell).trim());
      if (this.notebook.cells.some((cell) => cell.metadata.nbgrader)) {
        throw new Failed("This notebook is for you to complete: work on it in JupyterLab, as the guide for the class says.");
      }
      this.outputs = new SpeedLive.outputs.Outputs(this.cells);
    }

    async start() {
      if (!this.notebook) await this.load();
      const kernel = new Kernel(this.key, `${this.page.replace(/[^/]*$/, "")}`);
      await kernel.start();
      await kernel.execute(`${HELPER}.warm(${python(this.cells.map(source))})`);
      this.kernel = kernel;
      if (!this.bar) {
        this.bar = new Bar();
        this.bar.run.addEventListener("click", () => this.run());
        this.bar.stop.addEventListener("click", () => this.stop());
        this.bar.reset.addEventListener("click", () => this.reset());
        this.form.form.addEventListener("sb-values", () => this.stale());
      }
      this.bar.box.hidden = false;
      this.bar.say("The kernel is ready. Change a value, and run.");
      this.bar.run.focus();
    }

    // Values differ from those whose results are shown.
    stale() {
      if (!this.busy) this.bar.say(this.form.faulty.length ? "" : "Run to see the page with these values.");
    }

    async stop() {
      this.stopped = true;
      await this.kernel.interrupt();
    }

    reset() {
      this.outputs.restore();
      this.form.clear();
      this.bar.mark("");
      this.bar.say("The page is as in the book.");
      this.bar.run.focus();
    }

    async run() {
      if (this.busy || !this.kernel) return;
      const [faulty] = this.form.faulty;
      if (faulty) {
        this.bar.say(`First correct ${faulty.name}: it ${faulty.fault}.`);
        this.form.point(faulty);
        return;
      }
      this.busy = true;
      this.stopped = false;
      this.bar.working(true);
      try {
        await this.all(this.form.given);
      } catch (error) {
        this.bar.say(error instanceof Failed ? error.message : GONE);
        if (this.kernel.lost) this.end();
      }
      this.busy = false;
      this.bar.working(false);
    }

    // There is no kernel any more: offer another one.
    end() {
      this.kernel = undefined;
      this.bar.run.disabled = true;
      const { panel, status } = this.form.offer;
      panel.hidden = false;
      status.textContent = this.bar.status.textContent;
    }

    async all(given) {
      const { bar, cells, kernel, outputs } = this;
      const title = given.length ? "Your parameters:" : "Your run";
      const about = given.map(([name, text]) => `${name} = ${text}`).join(", ") || "with the book's own parameters";
      // The page shows one run at a time.
      outputs.restore();
      bar.mark(title, about);
      const records = [];
      await kernel.execute("%reset -f");
      bar.progress.max = cells.length;
      for (const [place, cell] of cells.entries()) {
        bar.progress.value = place;
        bar.say(`Cell ${place + 1} of ${cells.length} is running.`);
        const found = await kernel.execute(source(cell));
        if (tagged(cell, "parameters")) {
          await kernel.call(`globals().update(${HELPER}.values(${python(source(cell))}, ${python(Object.fromEntries(given))}))`);
        }
        await outputs.show(cell, found.outputs, async (text) => (await kernel.call(`${HELPER}.tell_displayed(${python(text)})`)).html);
        records.push(...found.outputs.map((output) => output.metadata?.speedbook?.claim).filter(Boolean));
        if (!found.well) {
          await this.tell(records);
          throw new Failed(this.failure(cell, place, found.outputs));
        }
      }
      await this.tell(records);
      bar.say(this.summary(records));
    }

    // Numbers and badges in the text, from what was recorded.
    async tell(records) {
      const of = (kind) => [...new Set([...document.querySelectorAll(`.bd-article [data-${kind}]`)].map((each) => each.dataset[kind]))];
      const about = [`${this.page}.ipynb`, records, of("ledger"), of("badge")].map(asPython);
      this.outputs.bound(await this.kernel.call(`${HELPER}.tell_texts(${about.join(", ")})`));
    }

    failure(cell, place, outputs) {
      if (this.stopped) return `Stopped in cell ${place + 1}. What stands above it is from your run, the rest from the book.`;
      const { ename, evalue } = outputs.find(({ type }) => type === "error") ?? { ename: "Error", evalue: "" };
      return `Cell ${place + 1} failed. ${ename}: ${evalue} What stands below it is from the book.`;
    }

    summary(records) {
      const recorded = this.cells.flatMap((cell) => (cell.outputs ?? []).map((output) => output.metadata?.speedbook?.claim).filter(Boolean));
      const before = new Map(recorded.map(({ id, verdict }) => [id, verdict]));
      const changed = records.filter(({ id, verdict }) => before.get(id) !== verdict).map(({ id, verdict }) => `${id} is now ${verdict}`);
      const verdicts = changed.length ? ` Verdicts that changed: ${changed.join("; ")}.` : records.length ? " No verdict changed." : "";
      return `Done.${verdicts} Pictures, tables, cards and bound numbers are from your run; all other text was written for the book's values.`;
    }
  }

  return { Live };
})();
