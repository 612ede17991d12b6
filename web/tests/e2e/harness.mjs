/**
 * Starts the real program and a real browser. The model is a script, everything else is real. The page comes from the
 * binary if it is built in, else from `dist` through a small proxy that keeps the server's own headers.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, request as forward } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, extname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const here = dirname(fileURLToPath(import.meta.url));
export const repository = resolve(here, '../../..');
const dist = resolve(here, '../../dist');
const binary = process.env.CREWAGENT_BIN ?? join(repository, 'target/debug/crewagent');
const golden = join(repository, 'crates/engine/tests/golden');

/** Milliseconds that a test waits for a state. It is generous because a busy machine is slow; no wait has a shorter one. */
export const DEADLINE = 180_000;

const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.json': 'application/json' };

/** Runs the program until it ends. */
export function crewagent(home, ...args) {
  return new Promise((done, fail) => {
    const child = spawn(binary, ['--home', home, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.on('data', (data) => (out += data));
    child.stderr.on('data', (data) => (err += data));
    child.on('error', fail);
    child.on('close', (code) => done({ code, out, err }));
  });
}

/**
 * Serves `dist` unless the page is built in, and forwards everything else to the server as if it came from its own page. Both
 * directions can be rewritten: `toServer(text)`, and `toPage(text, path)` for a document of JSON or one frame of the stream.
 */
function startProxy(target, isBuiltIn, rewrite) {
  const server = createServer(async (incoming, outgoing) => {
    const url = new URL(rewrite ? rewrite.toServer(incoming.url) : incoming.url, target);
    if (!isBuiltIn && !url.pathname.startsWith('/api') && url.pathname !== '/enter') {
      const name = extname(url.pathname) ? url.pathname : '/index.html';
      try {
        const policy = await fetch(target).then((answer) => answer.headers.get('content-security-policy'), () => null);
        // A dead server serves nothing.
        if (policy === null) return void outgoing.destroy();
        const bytes = await readFile(join(dist, name));
        outgoing.writeHead(200, { 'content-type': TYPES[extname(name)] ?? 'application/octet-stream', 'content-security-policy': policy ?? '' });
        outgoing.end(bytes);
      } catch {
        outgoing.writeHead(404).end();
      }
      return;
    }
    const headers = { ...incoming.headers, host: url.host };
    // Another page stays another page.
    if (headers.origin === `http://${incoming.headers.host}`) headers.origin = url.origin;
    if (rewrite) {
      delete headers['accept-encoding'];
      delete headers['content-length'];
    }
    const passed = forward(url, { method: incoming.method, headers }, (answer) => {
      const kind = answer.headers['content-type'] ?? '';
      if (!rewrite || !/json|event-stream/.test(kind)) {
        outgoing.writeHead(answer.statusCode, answer.headers);
        answer.pipe(outgoing);
        answer.on('close', () => answer.complete || outgoing.destroy());
        return;
      }
      const { 'content-length': _length, ...rest } = answer.headers;
      outgoing.writeHead(answer.statusCode, rest);
      outgoing.flushHeaders();
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (piece) => {
        text += piece;
        if (!kind.includes('event-stream')) return;
        const lines = text.split('\n');
        text = lines.pop();
        for (const line of lines) outgoing.write(`${line.startsWith('data:') ? `data: ${rewrite.toPage(line.slice(5), url.pathname)}` : rewrite.toPage(line, url.pathname)}\n`);
      });
      answer.on('end', () => outgoing.end(text === '' ? '' : rewrite.toPage(text, url.pathname)));
    });
    passed.on('error', () => outgoing.destroy());
    outgoing.on('close', () => passed.destroy());
    if (!rewrite) {
      incoming.pipe(passed);
      return;
    }
    let body = '';
    incoming.setEncoding('utf8');
    incoming.on('data', (piece) => (body += piece));
    incoming.on('end', () => passed.end(rewrite.toServer(body)));
  });
  return new Promise((done) => server.listen(0, '127.0.0.1', () => done(server)));
}

/** Ports below those that the system gives to outgoing connections: a server that comes back finds its port free. */
const [FIRST_PORT, PORTS_PER_PROCESS, PORT_BLOCKS] = [12_000, 20, 950];
let nextPort = 0;

/** Returns a port that belongs to this test process. The program takes the next free one if it is in use. */
function choosePort() {
  nextPort = (nextPort + 1) % PORTS_PER_PROCESS;
  return FIRST_PORT + (process.pid % PORT_BLOCKS) * PORTS_PER_PROCESS + nextPort;
}

/** Starts the program as a server, and waits for its link. `under` is a program that starts it, such as `prlimit`. */
async function start(home, { port = choosePort(), env = {}, under = [] } = {}) {
  const [program, ...args] = [...under, binary, '--home', home, 'ui', '--port', String(port), '--no-open'];
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, LANG: 'C.UTF-8', HOME: dirname(home), CREWAGENT_LOCAL_SERVERS: 'off', ...env } });
  let noise = '';
  child.stderr.on('data', (data) => (noise += data));
  const link = await new Promise((done, fail) => {
    createInterface({ input: child.stdout }).once('line', done);
    child.once('error', fail);
    child.once('close', () => fail(new Error(`the server ended: ${noise}`)));
  });
  const end = (signal) =>
    new Promise((done) => {
      if (child.exitCode !== null || child.signalCode !== null) return done();
      child.once('close', done);
      child.kill(signal);
    });
  return { link: new URL(link), pid: child.pid, end };
}

/** True if the binary has the page in it; known once a server was asked. */
let isBuiltIn;

/** Starts a server on a store. Its link lets one browser in. */
export async function serve(home, { rewrite, ...options } = {}) {
  const begun = performance.now();
  let running = await start(home, options);
  const ready = performance.now() - begun;
  const url = running.link;
  isBuiltIn ??= !process.env.CREWAGENT_PROXY && (await fetch(url.origin).then((answer) => answer.text())).includes('id="app"');
  const front = isBuiltIn && !rewrite ? null : await startProxy(url.origin, isBuiltIn, rewrite);
  const origin = front ? `http://127.0.0.1:${front.address().port}` : url.origin;
  return {
    origin,
    /** The server itself, where the page comes through the proxy. */
    own: url.origin,
    pid: () => running.pid,
    enter: `${origin}${url.pathname}${url.search}`,
    /** Milliseconds from the start of the program to its link. */
    ready,
    /** Mebibytes that the program has now, and had at most. */
    memory: async () => {
      const status = await readFile(`/proc/${running.pid}/status`, 'utf8');
      const of = (name) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
      return { now: of('VmRSS'), most: of('VmHWM') };
    },
    /** Ends the program; the address stays, for one that comes later. */
    crash: async (signal = 'SIGKILL') => {
      await running.end(signal);
      front?.closeAllConnections();
    },
    /** Starts the program again, at the same address. */
    restart: async (other = {}) => {
      running = await start(home, { ...options, ...other, port: url.port });
      if (running.link.port !== url.port) throw new Error(`another process took port ${url.port}`);
    },
    kill: async (signal = 'SIGKILL') => {
      await running.end(signal);
      front?.closeAllConnections();
      front?.close();
    },
  };
}

/** Makes a folder for everything that a test writes. */
export async function makeScratch() {
  const folder = await mkdtemp(join(tmpdir(), 'crewagent-web-'));
  return { folder, home: join(folder, 'home'), remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Makes the folder of a project, with the files of a golden run if one is named. */
export async function makeProject(folder, name, from) {
  const path = join(folder, name);
  await mkdir(path, { recursive: true });
  if (from) await cp(join(golden, from, 'project'), path, { recursive: true });
  return path;
}

/** Returns the scripted model of a golden run. */
export const goldenModel = (name) => `scripted:${join(golden, name, 'scenario.yaml')}`;

/** Returns the package of a golden run that has its own. */
export const goldenPackage = (name) => join(golden, name, 'package');

/** Returns the command of a real tool server. `cargo xtask test --only mcp` installs it, and so does `--only browser`. */
export function everythingCommand() {
  const folder = process.env.CREWAGENT_MCP_SERVERS ?? join(repository, 'target/mcp-servers');
  const program = join(folder, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');
  if (!existsSync(program)) throw new Error(`${program} is not there; \`cargo xtask test --only mcp\` installs it, or name its folder in CREWAGENT_MCP_SERVERS`);
  return [process.execPath, program, 'stdio'];
}

/** Returns the command of a tool server that starts fast and has a few tools. */
export const simpleToolServer = () => [process.execPath, join(here, 'tool-server.cjs')];

export const example = (name) => join(repository, 'spec/examples', name);

/** Returns the scripted model of one of these tests' own scenarios. */
export const ownModel = (name) => `scripted:${join(here, 'scenarios', name)}`;

/** Writes the settings: the model that runs use, lines of the tables `policy` and `run`, and further tables. */
export async function useModel(home, model, policy = '', run = '', more = '') {
  await mkdir(home, { recursive: true });
  await writeFile(join(home, 'config.toml'), `[run]\nmodel = ${JSON.stringify(model)}\n${run}\n[policy]\n${policy}\n${more}\n`);
}

export async function launchBrowser(...more) {
  return chromium.launch({
    executablePath: process.env.CREWAGENT_BROWSER ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', ...more],
  });
}

/** Opens a page that collects its errors. */
export async function openPage(context, errors = []) {
  const tab = await context.newPage();
  tab.on('pageerror', (error) => errors.push(String(error)));
  tab.on('console', (message) => {
    if (message.type() === 'error') errors.push(`${message.text()} ${message.location().url}`.trim());
  });
  return { tab, errors };
}

/** Lets a browser context in, and returns its cookie for requests from outside of the browser. */
export async function logIn(context, server) {
  await context.request.get(server.enter, { timeout: DEADLINE });
  return (await context.cookies(server.origin)).map(({ name, value }) => `${name}=${value}`).join('; ');
}

/** Sends a request to the API from outside of the browser, which may be offline, asleep or elsewhere. */
export function callApi(origin, cookie, method, path, body) {
  const text = method === 'GET' || method === 'DELETE' ? undefined : JSON.stringify(body ?? {});
  const headers = { cookie, ...(text !== undefined && { 'content-type': 'application/json' }) };
  return new Promise((done, fail) => {
    const sending = forward(new URL(path, origin), { method, agent: false, headers }, (answer) => {
      let came = '';
      answer.setEncoding('utf8');
      answer.on('data', (piece) => (came += piece));
      answer.on('error', fail);
      answer.on('end', () => {
        try {
          done(JSON.parse(came));
        } catch {
          fail(new Error(`${method} ${path}: ${answer.statusCode} ${came.slice(0, 200)}`));
        }
      });
    });
    sending.on('error', fail);
    sending.end(text);
  });
}

/** Polls until `check` returns something true, and returns it. What `check` throws counts as not yet. */
export async function until(what, check) {
  const end = Date.now() + DEADLINE;
  for (;;) {
    let cause;
    try {
      const value = await check();
      if (value) return value;
    } catch (error) {
      cause = error;
    }
    if (Date.now() > end) throw new Error(`this did not come true: ${what}`, { cause });
    await new Promise((done) => setTimeout(done, 25));
  }
}

/** Polls until the assertions of `check` hold. */
export async function eventually(check) {
  const end = Date.now() + DEADLINE;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    await new Promise((done) => setTimeout(done, 25));
  }
}

/** Waits until a screen is shown and so many frames in a row changed nothing in the page. A clock that ticks ends the wait, too. */
export function waitUntilStill(tab, quietFrames = 20) {
  return tab.evaluate(async (quiet) => {
    const MAX_FRAMES = 600;
    let still = 0;
    const observer = new MutationObserver(() => (still = 0));
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    for (let frame = 0; frame < MAX_FRAMES && still < quiet; frame += 1) {
      await new Promise((done) => requestAnimationFrame(done));
      still = document.querySelector('main > *:not(.waiting)') ? still + 1 : 0;
    }
    observer.disconnect();
  }, quietFrames);
}

/** The script of axe, which comes through the debugger, because the policy of the page lets no script in. */
let axe;

/** Asserts that axe objects to nothing on the page. */
export async function assertAccessible(tab) {
  await waitUntilStill(tab, 5);
  axe ??= await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  await tab.evaluate(axe);
  const { violations } = await tab.evaluate(() => globalThis.axe.run({ resultTypes: ['violations'] }));
  assert.deepEqual(violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target.join(' ')).join(' | ')}`), []);
}
