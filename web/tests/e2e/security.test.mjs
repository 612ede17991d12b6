/**
 * What others say stays text, and other pages stay out, in a real browser. What is sent over a socket is refused in
 * `crates/cli/tests/it/server/security.rs`, and not repeated here: hosts that are missing, doubled or bent, foreign origins
 * by header, links that work twice, cookies, long bodies and heads, ids that are paths, every path that leads out of a
 * project, 300 silent connections. A reader that takes nothing is hung up on in `crates/server/src/listen/patient.rs`.
 */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { altered, desk, VIEW } from './fixture.mjs';
import { browser, example, settled } from './harness.mjs';
import { until } from './screens-fixture.mjs';

/** Somebody else on this computer: says what was asked of it, and serves one page. */
async function stranger(html = '') {
  const asked = [];
  const server = createServer((incoming, outgoing) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    outgoing.writeHead(200, { 'content-type': 'text/html' });
    outgoing.end(incoming.url === '/' ? html : '');
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const close = () => new Promise((done) => (server.closeAllConnections(), server.close(done)));
  return { asked, port: server.address().port, close };
}

const RLO = '\u202e';
const MARKUP = '<img src=x onerror="hacked=1"><script>hacked=1</script>';
const LONG = 'W'.repeat(6000);
const EMOJI = '👩‍👩‍👧‍👦🏳️‍🌈'.repeat(30) + 'Z\u0300\u0301\u0302\u0303\u0304'.repeat(200);

/** Everything that a text may try in order to become more than text. */
const hostile = (port) => `# ${MARKUP}

<script>hacked = 1</script>
<script src="http://127.0.0.1:${port}/script.js"></script>
<iframe src="http://127.0.0.1:${port}/frame" srcdoc="<script>parent.hacked=1</script>"></iframe>
<style>body { background: url(http://127.0.0.1:${port}/style.png) }</style>
<svg onload="hacked=1"><image href="http://127.0.0.1:${port}/svg.png" /></svg>
<form action="http://127.0.0.1:${port}/form"><input name=x autofocus onfocus="hacked=1"></form>
<a href="javascript:hacked=1" id=clobber name=body>click</a>
<link rel=prefetch href="http://127.0.0.1:${port}/prefetch">

Inline <img src="http://127.0.0.1:${port}/inline.png" onerror="hacked=1"> and ![remote](http://127.0.0.1:${port}/remote.png) and
![svg](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImhhY2tlZD0xIi8+) and ![file](file:///etc/passwd) and ![ours](/api/app).

[one](javascript:hacked=1) [two](JaVaScRiPt&colon;hacked=1) [three](java&#10;script:hacked=1) [four](data:text/html,<script>hacked=1</script>)
[five](vbscript:hacked=1) [six](//127.0.0.1:${port}/six) [seven](/api/leave) [eight](<javascript:hacked=1>) <javascript:hacked=1> [nine]

[nine]: javascript:hacked=1

| ${MARKUP} | b |
|---|---|
| [x](javascript:hacked=1) | ![y](http://127.0.0.1:${port}/cell.png) |

\`\`\`html
${MARKUP}
\`\`\`

- [ ] ${MARKUP}

&lt;script&gt;hacked=1&lt;/script&gt; &#60;img src=x onerror=hacked=1&#62; ${RLO}reversed

${LONG} ${EMOJI}
`;

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" onload="hacked=1"><script>hacked=1</script></svg>';
const HTML = '<!doctype html><body onload="hacked=1"><script>hacked=1</script></body>';

describe('what a model, a package and a project say stays text', () => {
  let set, tab, elsewhere, shop, run, talk;
  const requests = [];
  before(async () => {
    elsewhere = await stranger();
    const text = hostile(elsewhere.port);
    const scenario = {
      scenario: 'a model that means harm',
      nodes: {
        'step-01-intake': [
          {
            think: text,
            say: text,
            calls: [
              { 'fs.write': { path: '@project/artifacts/note.md', content: text } },
              { 'fs.write': { path: '@project/artifacts/picture.svg', content: SVG } },
              { 'fs.write': { path: '@project/artifacts/page.html', content: HTML } },
              { 'fs.read': { path: `@project/${MARKUP}` } },
              { 'ui.ask_user': { question: text.slice(0, 3000), kind: 'choice', options: [{ value: 'a', label: `${MARKUP}${RLO}x`, description: MARKUP }, { value: MARKUP }] } },
            ],
          },
          { say: 'Thank you.', calls: [{ 'ui.ask_user': { question: 'And?', kind: 'form', schema: { type: 'object', properties: { x: { type: 'string', title: MARKUP, default: MARKUP } } } } }] },
        ],
      },
      chat: [{ say: text, times: 5 }],
    };
    set = await desk({ model: JSON.stringify(scenario) });
    ({ tab } = set);
    // A violation of the policy would be counted, and a script that runs would be seen.
    await set.context.addInitScript(() => {
      globalThis.violations = [];
      document.addEventListener('securitypolicyviolation', (event) => globalThis.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
    });
    set.context.on('request', (one) => requests.push(one.url()));
    tab.on('dialog', (dialog) => {
      requests.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    const path = await altered(set.folder, 'hostile', 'hello-branch', {
      'bmad.json': (json) => {
        json.description = text;
        json.author = MARKUP;
      },
      'workflow.graph.json': (json) => {
        for (const node of json.nodes) node.title = `${MARKUP}${RLO}evil`;
        for (const edge of json.edges) edge.label = MARKUP;
      },
      'agents.json': (json) => {
        for (const agent of json.agents) {
          agent.metadata.name = `${MARKUP}${RLO}boB`;
          agent.metadata.title = LONG;
          agent.metadata.icon = EMOJI;
          agent.persona.role = text;
          for (const item of agent.menu ?? []) item.description = `${MARKUP}${RLO}abc ${EMOJI}`;
        }
      },
    });
    const { report } = await set.api('POST', '/api/packages/import', { path });
    assert.equal(report.valid, true, JSON.stringify(report.findings).slice(0, 2000));
    shop = await set.project('shop', { [`<img src=x onerror=hacked=1>.md`]: text, [`${RLO}dm.exe`]: text, 'x.svg': SVG, 'x.html': HTML });
    run = await set.run(shop.id, 'hello-branch');
    await until('it asks', async () => (await set.api('GET', `/api/runs/${run}`)).question);
    ({ id: talk } = await set.api('POST', '/api/conversations', { project: shop.id, package: 'hello-branch', agent: 'pm' }));
  });
  after(async () => {
    await set?.close();
    await elsewhere?.close();
  });

  /** Nothing ran, nothing was asked of anybody else, and nothing is wider than the page. */
  async function harmless(where) {
    await settled(tab);
    const seen = await tab.evaluate(() => ({
      hacked: globalThis.hacked,
      violations: globalThis.violations,
      wide: Math.max(document.documentElement.scrollWidth - innerWidth, ...[...document.querySelectorAll('[role=log], main, main .scroll')].map((one) => one.scrollWidth - one.clientWidth)),
      // Elements that no part of the app makes.
      foreign: [...document.querySelectorAll('iframe, object, embed, base, form[action], main script, main style, [onerror], [onload], [onfocus]')].map((one) => one.outerHTML.slice(0, 80)),
      links: [...document.querySelectorAll('a[href]')].map((one) => one.getAttribute('href')).filter((to) => !/^(\/(?!\/|api)|https?:|mailto:|#)/.test(to)),
      pictures: [...document.querySelectorAll('img')].map((one) => one.src).filter((from) => !from.startsWith('data:image/png')),
    }));
    assert.deepEqual(seen, { hacked: undefined, violations: [], wide: seen.wide, foreign: [], links: [], pictures: [] }, where);
    assert.ok(seen.wide <= 0, `${where} is ${seen.wide} px wider than the window`);
    assert.deepEqual(elsewhere.asked, [], where);
    assert.deepEqual(requests.filter((url) => !url.startsWith(set.server.origin) && !url.startsWith('data:') && !url.startsWith('blob:')), [], where);
  }

  it('in a reply, in thoughts, in a call and in a question', async () => {
    await set.show(shop.id, run);
    await tab.getByRole('radiogroup').waitFor();
    await harmless('the run');
    const closed = tab.getByRole('log').getByRole('button', { expanded: false });
    for (let times = 0; times < 20 && (await closed.count()) > 0; times += 1) await closed.first().click();
    await harmless('the run, opened');
    await tab.getByRole('log').evaluate((node) => (node.scrollTop = 0));
    await harmless('its beginning');
    await tab.getByRole('log').evaluate((node) => (node.scrollTop = node.scrollHeight));
    await tab.getByRole('radio').first().click();
    await tab.getByRole('button', { name: /^Answer/ }).click();
    await tab.getByRole('button', { name: 'Answer', exact: true }).waitFor();
    await harmless('a form');
  });

  it('in every tab beside it', async () => {
    for (const name of ['Changes', 'Log', 'State', 'Prompt', 'Graph']) {
      await tab.locator('section.inspector').getByRole('tab', { name: new RegExp(name) }).click();
      await harmless(name);
    }
    await tab.getByRole('button', { name: 'Show as a list' }).click();
    await harmless('the list of steps');
  });

  it('in artifacts that are Markdown, SVG and HTML', async () => {
    for (const name of ['note.md', 'picture.svg', 'page.html']) {
      await tab.locator('section.artifacts').getByRole('button', { name: new RegExp(name) }).click();
      await tab.locator('.file').waitFor();
      await harmless(name);
    }
    await tab.getByRole('tab', { name: 'note.md' }).click();
    await tab.getByRole('button', { name: 'Source' }).click();
    await harmless('source');
    await tab.getByRole('tab', { name: 'Conversation' }).click();
  });

  it('in the name of a file', async () => {
    await tab.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Files' }).click();
    await tab.getByRole('treeitem', { name: /<img/ }).click();
    await harmless('a file with markup in its name');
    const odd = tab.getByRole('treeitem').filter({ hasText: 'exe' });
    assert.equal(((await odd.textContent()) ?? '').trim(), '\ufffddm.exe', 'what turns letters around is not shown as it is');
    await odd.click();
    await harmless('a file that hides its ending');
  });

  it('in the name of an agent, in its menu and in the package', async () => {
    await tab.goto(`${set.server.origin}/project/${shop.id}/work/${talk}`);
    await tab.getByRole('list', { name: /What/ }).waitFor();
    await harmless('the menu');
    assert.ok(!(await tab.locator('main').textContent()).includes(RLO), 'what turns letters around is not shown as it is');
    for (const at of ['', '/packages', '/launch', '/runs']) {
      await tab.goto(`${set.server.origin}/project/${shop.id}${at}`);
      await harmless(`project${at}`);
      assert.ok(!(await tab.locator('body').innerText()).includes(RLO), `project${at}`);
    }
    await tab.goto(`${set.server.origin}/import`);
    await tab.getByLabel('File or folder on this computer').fill(join(set.folder, 'hostile'));
    await tab.keyboard.press('Enter');
    await tab.getByText('The package is valid.').waitFor();
    await harmless('the import');
  });

  it('a link to another site opens without a way back', async () => {
    await set.show(shop.id, run);
    const outside = await tab.locator('[role=log] a[href^=http]').evaluateAll((all) => all.map((one) => [one.target, one.rel]));
    for (const [target, rel] of outside) assert.deepEqual([target, /noopener/.test(rel), /noreferrer/.test(rel)], ['_blank', true, true]);
  });

  it('what the server gives of a file is never a page', async () => {
    for (const name of ['x.svg', 'x.html']) {
      const kind = await tab.evaluate(async (path) => (await fetch(path)).headers.get('content-type'), `/api/projects/${shop.id}/file?path=${name}`);
      assert.match(kind, /application\/json/);
    }
    for (const path of ['..%2Fhome%2Fconfig.toml', '%2e%2e/home/config.toml', '@pkg/bmad.json', '/etc/passwd']) {
      const answer = await set.api('GET', `/api/projects/${shop.id}/file?path=${path}`);
      assert.equal(answer.text, undefined, path);
      assert.ok(answer.message, path);
    }
  });
});

describe('another page', () => {
  let set, shop, foreign, target;
  before(async () => {
    set = await desk();
    shop = await set.project('shop');
    target = set.server.own;
    foreign = await stranger('<!doctype html><title>elsewhere</title><body></body>');
  });
  after(async () => {
    await set?.close();
    await foreign?.close();
  });

  // The first is of the same site for a browser, because ports do not count there.
  for (const host of ['127.0.0.1', 'localhost']) {
    it(`at ${host} gets nothing and changes nothing`, async () => {
      const before = [await set.api('GET', '/api/projects'), await set.api('GET', '/api/settings')];
      const tab = await set.context.newPage();
      await tab.goto(`http://${host}:${foreign.port}/`);
      const came = await tab.evaluate(
        async ([at, id]) => {
          const wait = (work) => Promise.race([work, new Promise((done) => setTimeout(() => done('nothing'), 3000))]);
          const read = (how) => fetch(`${at}/api/app`, how).then(async (answer) => `read ${answer.type} ${await answer.text()}`, () => 'refused');
          const send = (method, path, headers, mode, body) =>
            fetch(at + path, { method, headers, mode, body, credentials: 'include' }).then((answer) => `${answer.type} ${answer.status}`, () => 'refused');
          const loads = (tag, from) =>
            wait(
              new Promise((done) => {
                const node = document.createElement(tag);
                node.onload = () => done(tag === 'iframe' ? (node.contentDocument === null ? 'closed' : 'open') : 'loaded');
                node.onerror = () => done('refused');
                node[tag === 'link' ? 'href' : 'src'] = from;
                if (tag === 'link') node.rel = 'stylesheet';
                document.body.append(node);
              }),
            );
          const form = document.createElement('form');
          Object.assign(form, { method: 'POST', action: `${at}/api/projects`, target: 'sink', enctype: 'text/plain' });
          form.innerHTML = '<input name=\'{"path":"/tmp","x":"\' value=\'"}\'>';
          const sink = document.createElement('iframe');
          sink.name = 'sink';
          document.body.append(sink, form);
          const posted = wait(new Promise((done) => (sink.onload = () => done('answered'))));
          form.submit();
          return {
            plain: await read({}),
            cookies: await read({ credentials: 'include' }),
            opaque: await read({ mode: 'no-cors', credentials: 'include' }),
            json: await send('POST', '/api/projects', { 'content-type': 'application/json' }, 'cors', '{"path":"/tmp"}'),
            simple: await send('POST', '/api/projects', { 'content-type': 'text/plain' }, 'no-cors', '{"path":"/tmp"}'),
            leave: await send('POST', '/api/leave', {}, 'no-cors', ''),
            gone: await send('DELETE', `/api/projects/${id}`, {}, 'cors'),
            put: await send('PATCH', '/api/settings', { 'content-type': 'application/json' }, 'cors', '{"key":"run.mode","value":"guided"}'),
            image: await loads('img', `${at}/api/app`),
            script: await loads('script', `${at}/api/app`),
            style: await loads('link', `${at}/api/app`),
            frame: await loads('iframe', `${at}/`),
            form: await posted,
            socket: await wait(new Promise((done) => {
              const socket = new WebSocket(`${at.replace('http', 'ws')}/api/events`);
              socket.onopen = () => done('open');
              socket.onerror = () => done('refused');
            })),
            events: await wait(new Promise((done) => {
              const source = new EventSource(`${at}/api/events`, { withCredentials: true });
              source.onopen = () => done('open');
              source.onerror = () => done('refused');
            })),
            beacon: navigator.sendBeacon(`${at}/api/leave`, ''),
          };
        },
        [target, shop.id],
      );
      const refused = { plain: 'refused', opaque: 'refused', simple: 'refused', leave: 'refused', cookies: 'refused', json: 'refused', gone: 'refused', put: 'refused', image: 'refused', script: 'refused', socket: 'refused', events: 'refused', frame: 'closed' };
      for (const [what, expected] of Object.entries(refused)) assert.equal(came[what], expected, what);
      // What came of the form and the beacon is seen below: nothing.
      const frames = tab.frames().filter((frame) => frame.url().startsWith(target));
      for (const frame of frames) assert.equal(await frame.locator('#app').count(), 0, 'the app is in no frame');
      await tab.close();
      assert.deepEqual([await set.api('GET', '/api/projects'), await set.api('GET', '/api/settings')], before);
      assert.equal((await set.api('GET', '/api/app')).code, undefined, 'nobody was put out');
    });
  }

  it('a name that was bent to this address gets not even the page', async () => {
    const port = new URL(target).port;
    const chrome = await browser('--host-resolver-rules=MAP evil.test 127.0.0.1');
    try {
      const tab = await chrome.newPage();
      const answer = await tab.goto(`http://evil.test:${port}/`);
      assert.equal(answer.status(), 403);
      assert.equal(await tab.locator('#app').count(), 0);
      assert.equal(await tab.evaluate(async () => (await fetch('/api/app')).status), 403);
    } finally {
      await chrome.close();
    }
  });

  it('a browser without the cookie is told how to come in, and nothing else', async () => {
    const context = await set.chrome.newContext(VIEW);
    const tab = await context.newPage();
    await tab.goto(`${set.server.origin}/project/${shop.id}`);
    await tab.getByRole('heading', { name: 'This browser was not let in' }).waitFor();
    assert.ok(!(await tab.content()).includes('shop'), 'not even a name');
    await context.close();
  });
});

describe('floods', () => {
  let set, shop, cookie, port;
  const MODEL = JSON.stringify({
    scenario: 'much to tell',
    nodes: { 'step-01-intake': [{ say: `{{repeat:${'many-words-'.repeat(200)} :100}}`, calls: [{ 'fs.list': { path: '@project' } }], times: 10 }, { calls: [{ 'ui.ask_user': { question: 'Enough?' } }] }] },
  });
  before(async () => {
    set = await desk({ model: MODEL });
    shop = await set.project('shop');
    await set.api('POST', '/api/packages/import', { path: example('hello-branch') });
    port = Number(new URL(set.server.own).port);
    cookie = (await set.context.cookies()).map((one) => `${one.name}=${one.value}`).join('; ');
  });
  after(() => set?.close());
  const memory = async () => Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${set.server.pid()}/status`, 'utf8'))[1]) / 1024;
  const head = (method, path, more = '') => `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncookie: ${cookie}\r\n${more}`;

  it('a package of hundreds of megabytes in pieces is refused early, and memory stays as it is', async () => {
    const before = await memory();
    const piece = Buffer.alloc(1 << 20);
    let sent = 0;
    const status = await new Promise((done) => {
      const sending = request({ port, host: '127.0.0.1', method: 'POST', path: '/api/packages/import-file', headers: { cookie, 'content-type': 'application/octet-stream', 'transfer-encoding': 'chunked' } }, (answer) => {
        answer.resume();
        done(answer.statusCode);
        sending.destroy();
      });
      sending.on('error', () => done('cut off'));
      const more = () => {
        while (sent < 400 && !sending.destroyed) {
          sent += 1;
          if (!sending.write(piece)) return void sending.once('drain', more);
        }
        sending.end();
      };
      more();
    });
    assert.equal(status, 413);
    assert.ok(sent < 120, `${sent} MiB were taken`);
    assert.ok((await memory()) - before < 32, `from ${before} to ${await memory()} MiB`);
    assert.deepEqual((await set.api('GET', '/api/packages')).packages.length, 1);
  });

  it('one that says how long it is is refused before it is sent', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.write(head('POST', '/api/packages/inspect-file', 'content-type: application/octet-stream\r\ncontent-length: 500000000\r\n\r\n'));
    const answer = await new Promise((done) => socket.once('data', (data) => done(String(data))));
    assert.match(answer, /^HTTP\/1\.1 413/);
    socket.destroy();
  });

  it('the page says so, and asks nothing', async () => {
    const { tab } = set;
    await tab.goto(`${set.server.origin}/import`);
    await settled(tab);
    const sent = [];
    tab.on('request', (one) => one.method() === 'POST' && sent.push(one.url()));
    await tab.locator('.drop').evaluate((zone) => {
      const data = new DataTransfer();
      const piece = new Uint8Array(1 << 20);
      data.items.add(new File(Array.from({ length: 70 }, () => piece), 'huge.bmad'));
      zone.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    });
    const fault = tab.getByRole('alert');
    await fault.getByText(/huge\.bmad is 70 MiB; the browser can send at most 64 MiB/).waitFor();
    await fault.getByText(/Give its path/).waitFor();
    assert.deepEqual(sent, []);
  });

  it('clients that are slow, or read nothing, keep nobody waiting and cost little', async () => {
    const { tab } = set;
    const run = await set.run(shop.id, 'hello-branch');
    const before = await memory();
    const sockets = [
      ...Array.from({ length: 60 }, () => 'GET /api/app HTTP/1.1\r\nhost: '),
      ...Array.from({ length: 60 }, () => head('POST', '/api/runs', 'content-type: application/json\r\ncontent-length: 100000\r\n\r\n{"project"')),
      ...Array.from({ length: 20 }, () => head('GET', `/api/events?watch=run/${run}`, '\r\n')),
    ].map((words) => {
      const socket = connect({ port, host: '127.0.0.1' });
      socket.on('error', () => undefined);
      socket.pause();
      socket.write(words);
      return socket;
    });
    try {
      await until('it has told everything', async () => (await set.api('GET', `/api/runs/${run}`)).question, 30);
      const begun = Date.now();
      await set.show(shop.id, run);
      await tab.getByText('Enough?').first().waitFor();
      assert.ok(Date.now() - begun < 5000, `the page took ${Date.now() - begun} ms`);
      const grown = (await memory()) - before;
      assert.ok(grown < 96, `${grown} MiB more`);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});
