// Values of a notebook's parameters, read from text as the command line reads them (speedbook/notebook/values.py and
// parameters.py), and the command that sets them. The types and ranges come with the page. A test compares every
// answer of this file with that of the command line.
var SpeedLive = window.SpeedLive || {};

SpeedLive.values = (() => {
  "use strict";

  const BLANK = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+";
  const EDGES = new RegExp(`^${BLANK}|${BLANK}$`, "g");
  const INTEGER = /^[+-]?\d+(_\d+)*$/;
  const FLOAT = /^[+-]?(\d+(_\d+)*(\.(\d+(_\d+)*)?)?|\.\d+(_\d+)*)(e[+-]?\d+(_\d+)*)?$/i;
  const INFINITE = /^[+-]?(inf|infinity|nan)$/i;
  const HALF = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
  // Python reads no longer integer.
  const MOST_DIGITS = 4300;

  class Refused extends Error {}

  const strip = (text) => text.replace(EDGES, "");

  const readInteger = (text) => {
    if (INTEGER.test(text) && text.replace(/\D/g, "").length <= MOST_DIGITS) {
      const digits = BigInt(text.replace(/[_+-]/g, ""));
      return text.startsWith("-") ? -digits : digits;
    }
    const number = FLOAT.test(text) ? Number(text.replace(/_/g, "")) : NaN;
    return Number.isSafeInteger(number) ? BigInt(number) : undefined;
  };

  const READERS = {
    int: readInteger,
    float: (text) => (FLOAT.test(text) ? Number(text.replace(/_/g, "")) : INFINITE.test(text) ? NaN : undefined),
    bool: (text) => ({ true: true, false: false })[text.toLowerCase()],
  };

  const shown = (text) => (text === "" ? "nothing" : text);

  const checkScalar = (schema, kind, text) => {
    if (typeof text !== "string") throw new Refused(`must be of type ${schema.type}`);
    const value = kind === "str" ? text : READERS[kind](strip(text));
    if (value === undefined) throw new Refused(`must be of type ${schema.type}; got ${shown(text)}`);
    if (kind === "float" && !Number.isFinite(value)) throw new Refused(`must be finite; got ${text}`);
    if (kind === "str" && HALF.test(value)) throw new Refused("must be text that UTF-8 can write");
    const { low, high, choices } = schema;
    const outside = (low !== null && value < low) || (high !== null && value > high);
    // Choices are of the parameter's type; integers are compared as numbers.
    const unknown = choices.length > 0 && !choices.some((choice) => (kind === "int" ? BigInt(choice) : choice) === value);
    if (outside || unknown) throw new Refused(`must be ${schema.rule}; got ${shown(text)}`);
    return kind === "float" ? value + 0 : value;
  };

  // The elements of a list, as text; others than texts and numbers stay what they are.
  const elements = (text) => {
    const trimmed = strip(text);
    if (!trimmed.startsWith("[")) return text.split(",").map(strip);
    if (!trimmed.endsWith("]")) return [text];
    try {
      JSON.parse(text);
      // Numbers keep their digits.
      return JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (part) => (part[0] === '"' ? part : `"${part}"`)));
    } catch {
      return trimmed.replace(/^\[/, "").replace(/\]$/, "").split(",").map(strip);
    }
  };

  // The value of a parameter, or the reason why the text gives none: {value} or {fault}.
  const read = (schema, text) => {
    try {
      if (!schema.type.startsWith("list[")) return { value: checkScalar(schema, schema.type, text) };
      const parts = elements(text);
      if (!parts.length && !schema.or_empty) throw new Refused("must hold at least one element");
      return { value: parts.map((part) => checkScalar(schema, schema.type.slice(5, -1), part)) };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { fault: error.message };
    }
  };

  // The same text for the same value.
  const digest = (value) =>
    JSON.stringify(value, (_, part) => (typeof part === "bigint" ? `${part}` : Object.is(part, -0) ? 0 : part));

  // As Python's shlex.quote.
  const posix = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);

  // What ends a quotation in PowerShell, which takes curled quotation marks for straight ones.
  const QUOTES = /['\u2018\u2019\u201a\u201b]/g;
  // PowerShell 5 passes on neither quotation marks nor a last backslash as they are. After --% it leaves the line alone.
  const literal = (word) => `"${word.replace(/(\\*)("|$)/g, (_, slashes, end) => slashes + slashes + (end && '\\"'))}"`;
  const plain = (word) => (/^[\w+:./-][\w=+:./-]*$/.test(word) ? word : `'${word.replace(QUOTES, "$&$&")}'`);

  // The commands that run a notebook with the given [name, text]: one for POSIX shells, one for PowerShell.
  const commands = (notebook, given) => {
    const words = given.map(([name, text]) => `${name}=${text}`);
    const awkward = words.some((word) => /"|\\$/.test(word));
    const quoted = (quote) => words.map((word) => ` -p ${quote(word)}`).join("");
    return {
      posix: `.venv/bin/speedbook rerun ${posix(notebook)}${quoted(posix)}`,
      powershell: `.venv\\Scripts\\speedbook ${awkward ? "--% " : ""}rerun ${notebook}${quoted(awkward ? literal : plain)}`,
    };
  };

  return { commands, digest, read, strip };
})();
