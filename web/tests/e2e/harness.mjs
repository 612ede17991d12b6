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

/** Serves `dist`, and hands everything else to the server as if it came from its own page. */
function proxy(target) {
  const server = createServer(async (incoming, outgoing) => {
    const url = new URL(incoming.url, target);
    if (!url.pathname.startsWith('/api') && url.pathname !== '/enter') {
      const name = extname(url.pathname) ? url.pathname : '/index.html';
      try {
        const bytes = await readFile(join(dist, name));
        const policy = await fetch(target).then((answer) => answer.headers.get('content-security-policy'));
        outgoing.writeHead(200, { 'content-type': TYPES[extname(name)] ?? 'application/octet-stream', 'content-security-policy': policy ?? '' });
        outgoing.end(bytes);
      } catch {
        outgoing.writeHead(404).end();
      }
      return;
    }
    const headers = { ...incoming.headers, host: url.host };
    if (headers.origin) headers.origin = url.origin;
    const passed = forward(url, { method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    outgoing.on('close', () => passed.destroy());
    incoming.pipe(passed);
  });
  return new Promise((done) => server.listen(0, '127.0.0.1', () => done(server)));
}

/** A server with its own store, ready to be entered once. */
export async function serve(home) {
  const child = spawn(binary, ['--home', home, 'ui', '--port', '0', '--no-open'], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, LANG: 'C.UTF-8' } });
  let noise = '';
  child.stderr.on('data', (data) => (noise += data));
  const link = await new Promise((done, fail) => {
    createInterface({ input: child.stdout }).once('line', done);
    child.once('close', () => fail(new Error(`the server ended: ${noise}`)));
  });
  const url = new URL(link);
  const isBuiltIn = (await fetch(url.origin).then((answer) => answer.text())).includes('id="app"');
  const front = isBuiltIn && !process.env.CREWAGENT_PROXY ? null : await proxy(url.origin);
  const origin = front ? `http://127.0.0.1:${front.address().port}` : url.origin;
  return {
    origin,
    enter: `${origin}${url.pathname}${url.search}`,
    kill: (signal = 'SIGKILL') =>
      new Promise((done) => {
        child.once('close', done);
        child.kill(signal);
        front?.closeAllConnections();
        front?.close();
      }),
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

/** Makes a scripted model the one that runs use, with a line of the policy where one is wanted. */
export async function useModel(home, model, policy = '') {
  await mkdir(home, { recursive: true });
  await writeFile(join(home, 'config.toml'), `[run]\nmodel = ${JSON.stringify(model)}\n[policy]\n${policy}\n`);
}

export async function browser() {
  return chromium.launch({
    executablePath: process.env.CREWAGENT_BROWSER ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
}

/** A page that was let in, and every error it had. */
export async function page(context, server) {
  const tab = await context.newPage();
  const errors = [];
  tab.on('pageerror', (error) => errors.push(String(error)));
  tab.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
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
