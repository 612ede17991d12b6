/**
 * Gives every picture the same ids, times and folders: rewrites what the server sends to the page, and what the page sends back.
 * Everything else is real.
 */

const ID = /\d{8}-\d{6}-[0-9a-z]{5}/g;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;
/** How folders and programs of this computer are shown. */
const [SHOWN_HOME, SHOWN_NODE, SHOWN_SERVER] = ['/srv/ana', '/usr/bin/node', '/opt/mcp/everything.js'];
const BEGIN = Date.parse('2026-03-02T09:00:00Z');
const [RUN_APART, EVENT_APART] = [4 * 60_000, 700];

/** When a picture is taken. */
export const NOW = BEGIN + 90 * 60_000;

/** Makes the rewriter for a scratch folder, which is shown as a home, and for the command of a tool server. */
export function normalizer(folder, [node, server]) {
  const places = [[folder, SHOWN_HOME], [server, SHOWN_SERVER], [node, SHOWN_NODE]];
  const shown = new Map();
  const real = new Map();

  /** Ids are counted as they are first seen. */
  function idFor(id) {
    if (!shown.has(id)) {
      const count = shown.size;
      const tail = ((count * 15_485_863 + 32_452_843) % 36 ** 5).toString(36).padStart(5, '0');
      const made = `20260302-${new Date(BEGIN + count * RUN_APART).toISOString().slice(11, 19).replaceAll(':', '')}-${tail}`;
      shown.set(id, made);
      real.set(made, id);
    }
    return shown.get(id);
  }
  const begun = (id) => (idFor(id), BEGIN + [...shown.keys()].indexOf(id) * RUN_APART);
  const iso = (time) => new Date(time).toISOString();

  /** Times follow from the number of the event, or from the count of the run that they are about. */
  function timed(value, about) {
    if (Array.isArray(value)) return value.map((one) => timed(one, about));
    if (typeof value !== 'object' || value === null) return typeof value === 'string' && TIME.test(value) ? iso(about ? begun(about) + RUN_APART / 2 : BEGIN) : value;
    const own = [value.journal?.id, value.runId, value.id].find((id) => typeof id === 'string' && id.match(ID)?.[0] === id) ?? about;
    const result = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, timed(one, own)]));
    if (own && typeof value.created === 'string') result.created = iso(begun(own));
    if (own && typeof value.seq === 'number' && typeof value.time === 'string') result.time = iso(begun(own) + value.seq * EVENT_APART);
    return result;
  }

  return {
    toServer(text) {
      const there = places.reduce((words, [real, shown]) => words.replaceAll(shown, real).replaceAll(encodeURIComponent(shown), encodeURIComponent(real)), text);
      return there.replace(ID, (id) => real.get(id) ?? id);
    },
    toPage(text, path) {
      let json = text;
      try {
        json = JSON.stringify(timed(JSON.parse(text), path.match(ID)?.[0]));
      } catch {
        // A line of a frame that is no JSON.
      }
      return places.reduce((words, [real, shown]) => words.replaceAll(real, shown), json.replace(ID, idFor));
    },
  };
}
