/**
 * The real server on a store of its own, and a browser. The model is a script, everything else is real. The page comes
 * from the binary if it is built in, else from `dist` through a small proxy that keeps the server's own headers.
 */

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, request as forward } from 'node:http';
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
 * Serves `dist` unless the page is built in, and hands everything else to the server as if it came from its own page. What
 * both sides say can be rewritten on its way: `toServer(text)`, and `toPage(text, path)` for a document of JSON or one frame of the stream.
 */
function proxy(target, isBuiltIn, rewrite) {
  const server = createServer(async (incoming, outgoing) => {
    const url = new URL(rewrite ? rewrite.toServer(incoming.url) : incoming.url, target);
    if (!isBuiltIn && !url.pathname.startsWith('/api') && url.pathname !== '/enter') {
      const name = extname(url.pathname) ? url.pathname : '/index.html';
      try {
        const policy = await fetch(target).then((answer) => answer.headers.get('content-security-policy'), () => null);
        // A server that is dead serves nothing.
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

/** Starts the program as a server, and waits for its link. `under` is a program that starts it, such as `prlimit`. */
async function start(home, { port = 0, env = {}, under = [] } = {}) {
  const [program, ...args] = [...under, binary, '--home', home, 'ui', '--port', String(port), '--no-open'];
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, LANG: 'C.UTF-8', ...env } });
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

/** A server with its own store, ready to be entered once. */
export async function serve(home, { rewrite, ...options } = {}) {
  const begun = performance.now();
  let running = await start(home, options);
  const ready = performance.now() - begun;
  const url = running.link;
  const isBuiltIn = !process.env.CREWAGENT_PROXY && (await fetch(url.origin).then((answer) => answer.text())).includes('id="app"');
  const front = isBuiltIn && !rewrite ? null : await proxy(url.origin, isBuiltIn, rewrite);
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
    again: async (other = {}) => {
      running = await start(home, { ...options, ...other, port: url.port });
      if (running.link.port !== url.port) throw new Error(`port ${url.port} was taken by somebody else`);
    },
    kill: async (signal = 'SIGKILL') => {
      await running.end(signal);
      front?.closeAllConnections();
      front?.close();
    },
  };
}

/** A folder for everything; it goes when the tests are over. */
export async function scratch() {
  const folder = await mkdtemp(join(tmpdir(), 'crewagent-web-'));
  return { folder, home: join(folder, 'home'), remove: () => rm(folder, { recursive: true, force: true }) };
}

/** A project with the files of a golden run. */
export async function project(folder, name, from) {
  const path = join(folder, name);
  await mkdir(path, { recursive: true });
  if (from) await cp(join(golden, from, 'project'), path, { recursive: true });
  return path;
}

export const scenario = (name) => `scripted:${join(golden, name, 'scenario.yaml')}`;
/** The words that start a real MCP server. `cargo xtask test --only mcp` installs it, and so does `--only browser`. */
export function everything() {
  const folder = process.env.CREWAGENT_MCP_SERVERS ?? join(repository, 'target/mcp-servers');
  const program = join(folder, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');
  if (!existsSync(program)) throw new Error(`${program} is not there; \`cargo xtask test --only mcp\` installs it, or name its folder in CREWAGENT_MCP_SERVERS`);
  return [process.execPath, program, 'stdio'];
}

export const example = (name) => join(repository, 'spec/examples', name);

/** A scenario of these tests. */
export const own = (name) => `scripted:${join(here, 'scenarios', name)}`;

/** Makes a scripted model the one that runs use, with lines of the policy, about runs, and further tables where some are wanted. */
export async function useModel(home, model, policy = '', run = '', more = '') {
  await mkdir(home, { recursive: true });
  await writeFile(join(home, 'config.toml'), `[run]\nmodel = ${JSON.stringify(model)}\n${run}\n[policy]\n${policy}\n${more}\n`);
}

export async function browser(...more) {
  return chromium.launch({
    executablePath: process.env.CREWAGENT_BROWSER ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', ...more],
  });
}

/** A page that was let in, and every error it had. */
export async function page(context, server) {
  const tab = await context.newPage();
  const errors = [];
  tab.on('pageerror', (error) => errors.push(String(error)));
  tab.on('console', (message) => {
    if (message.type() === 'error') errors.push(`${message.text()} ${message.location().url}`.trim());
  });
  await tab.goto(server.enter);
  return { tab, errors };
}

/** Waits until the page has stopped changing: a third of a second of frames in which nothing was added, taken or set. */
export function settled(tab) {
  return tab.evaluate(async () => {
    const [QUIET, MOST] = [20, 600];
    let still = 0;
    const observer = new MutationObserver(() => (still = 0));
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    for (let frame = 0; frame < MOST && still < QUIET; frame += 1) {
      await new Promise((done) => requestAnimationFrame(done));
      still = document.querySelector('main > *:not(.waiting)') ? still + 1 : 0;
    }
    observer.disconnect();
  });
}

/** Requests to the API as the page makes them. */
export function ask(tab, method, path, body) {
  return tab.evaluate(
    async ([how, where, what]) => {
      const answer = await fetch(where, {
        method: how,
        headers: what === undefined ? {} : { 'content-type': 'application/json' },
        body: what === undefined ? undefined : JSON.stringify(what),
      });
      return answer.json();
    },
    [method, path, body],
  );
}
