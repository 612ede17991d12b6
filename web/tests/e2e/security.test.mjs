/**
 * Text of models, packages and projects stays text, and other pages stay out, in a real browser. The server's tests refuse what
 * is sent over a socket, and it is not repeated here: hosts that are missing, doubled or bent, foreign origins by header, links
 * that work twice, cookies, long bodies and heads, ids that are paths, every path that leads out of a project, 300 silent
 * connections, a reader that takes nothing.
 */

import assert from 'node:assert/strict';
import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { alterExample, VIEW, withFixture } from './fixture.mjs';
import { until, waitUntilStill } from './harness.mjs';

/** Starts another site on this computer, which notes what was asked of it and serves one page. */
async function startForeignSite(html = '') {
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

const hostileModel = (text) => ({
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
});

/** Makes a copy of a package with hostile text wherever a package has text. */
const makeHostilePackage = (folder, text) =>
  alterExample(folder, 'hostile', 'hello-branch', {
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

/** Makes a test of a project, a package and a model that mean harm. `assertHarmless` looks at the page as it is. */
const withHostileText = (body) => async (t) => {
  const elsewhere = await startForeignSite();
  const text = hostile(elsewhere.port);
  const test = withFixture({ model: hostileModel(text), packages: [] }, async (fixture) => {
    const { tab, context, server } = fixture;
    const requests = [];
    // A violation of the policy is counted, and a script that runs is seen.
    await context.addInitScript(() => {
      globalThis.violations = [];
      document.addEventListener('securitypolicyviolation', (event) => globalThis.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
    });
    context.on('request', (one) => requests.push(one.url()));
    tab.on('dialog', (dialog) => {
      requests.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    const { report } = await fixture.importPackage(await makeHostilePackage(fixture.folder, text));
    assert.equal(report.valid, true, JSON.stringify(report.findings).slice(0, 2000));
    const shop = await fixture.project('shop', { [`<img src=x onerror=hacked=1>.md`]: text, [`${RLO}dm.exe`]: text, 'x.svg': SVG, 'x.html': HTML });
    /** Asserts that nothing ran, nothing was asked of another site, and nothing is wider than the page. */
    const assertHarmless = async (where) => {
      await waitUntilStill(tab, 5);
      const seen = await tab.evaluate(() => ({
        hacked: globalThis.hacked,
        violations: globalThis.violations,
        wide: Math.max(document.documentElement.scrollWidth - innerWidth, ...[...document.querySelectorAll('[role=log], main, main .scroll')].map((one) => one.scrollWidth - one.clientWidth)),
        // Elements that no part of the app makes.
        foreign: [...document.querySelectorAll('iframe, object, embed, base, form[action], main script, main style, [onerror], [onload], [onfocus]')].map((one) => one.outerHTML.slice(0, 80)),
        // A download of the file itself never shows anything.
        links: [...document.querySelectorAll('a[href]:not([download])')].map((one) => one.getAttribute('href')).filter((to) => !/^(\/(?!\/|api)|https?:|mailto:|#)/.test(to)),
        pictures: [...document.querySelectorAll('img')].map((one) => one.src).filter((from) => !from.startsWith('data:image/png') && !from.startsWith(`${location.origin}/api/projects/`)),
      }));
      assert.deepEqual(seen, { hacked: undefined, violations: [], wide: seen.wide, foreign: [], links: [], pictures: [] }, where);
      assert.ok(seen.wide <= 0, `${where} is ${seen.wide} px wider than the window`);
      assert.deepEqual(elsewhere.asked, [], where);
      assert.deepEqual(requests.filter((url) => !url.startsWith(server.origin) && !url.startsWith('data:') && !url.startsWith('blob:')), [], where);
    };
    /** Opens a run that asks. */
    const openRun = async () => {
      const run = await fixture.startRun(shop.id);
      await until('it asks', async () => (await fixture.api('GET', `/api/runs/${run}`)).question);
      await fixture.showRun(shop.id, run);
      await tab.getByRole('radiogroup').waitFor();
    };
    await body({ ...fixture, shop, openRun, assertHarmless });
  });
  try {
    await test(t);
  } finally {
    await elsewhere.close();
  }
};

describe('text of a model, a package and a project stays text', () => {
  it('in a reply, in thoughts, in a call and in a question', withHostileText(async ({ tab, log, openRun, assertHarmless }) => {
    await openRun();
    await assertHarmless('the run');
    const closed = log.getByRole('button', { expanded: false });
    for (let times = 0; times < 20 && (await closed.count()) > 0; times += 1) await closed.first().click();
    await assertHarmless('the run, opened');
    await log.evaluate((node) => (node.scrollTop = 0));
    await assertHarmless('its beginning');
    await log.evaluate((node) => (node.scrollTop = node.scrollHeight));
    await tab.getByRole('radio').first().click();
    await tab.getByRole('button', { name: /^Answer/ }).click();
    await tab.getByRole('button', { name: 'Answer', exact: true }).waitFor();
    await assertHarmless('a form');
  }));

  it('in every tab beside it', withHostileText(async ({ tab, openRun, assertHarmless }) => {
    await openRun();
    for (const name of ['Changes', 'Log', 'State', 'Prompt', 'Graph']) {
      await tab.locator('section.inspector').getByRole('tab', { name: new RegExp(name) }).click();
      await tab.locator('section.inspector').getByRole('tab', { name: new RegExp(name), selected: true }).waitFor();
      await assertHarmless(name);
    }
    await tab.getByRole('button', { name: 'Show as a list' }).click();
    await tab.getByRole('list', { name: 'Steps of the workflow' }).waitFor();
    await assertHarmless('the list of steps');
  }));

  it('in artifacts that are Markdown, SVG and HTML', withHostileText(async ({ tab, openRun, assertHarmless }) => {
    await openRun();
    for (const name of ['note.md', 'picture.svg', 'page.html']) {
      await tab.locator('section.artifacts').getByRole('button', { name: new RegExp(name) }).click();
      await tab.getByRole('tab', { name, selected: true }).waitFor();
      await tab.locator('.file').first().waitFor();
      await assertHarmless(name);
    }
    await tab.getByRole('tab', { name: 'note.md' }).click();
    await tab.getByRole('button', { name: 'Source' }).click();
    await tab.locator('.cm-content').first().waitFor();
    await assertHarmless('source');
  }));

  it('in the name of a file', withHostileText(async ({ tab, go, shop, assertHarmless }) => {
    await go('project', shop.id);
    await tab.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Files' }).click();
    await tab.getByRole('treeitem', { name: /<img/ }).click();
    await tab.locator('.file').first().waitFor();
    await assertHarmless('a file with markup in its name');
    const odd = tab.getByRole('treeitem').filter({ hasText: 'exe' });
    assert.equal(((await odd.textContent()) ?? '').trim(), '\ufffddm.exe', 'what turns letters around is not shown as it is');
    await odd.click();
    await assertHarmless('a file that hides its ending');
  }));

  it('in the name of an agent and in its menu', withHostileText(async ({ tab, shop, startConversation, showConversation, assertHarmless }) => {
    await showConversation(shop.id, await startConversation(shop.id, { package: 'hello-branch', agent: 'pm' }));
    await tab.getByRole('list', { name: /What/ }).waitFor();
    await assertHarmless('the menu');
    assert.ok(!(await tab.locator('main').textContent()).includes(RLO), 'what turns letters around is not shown as it is');
  }));

  it('in a package', withHostileText(async ({ tab, folder, go, shop, startRun, assertHarmless }) => {
    await startRun(shop.id);
    for (const at of ['', '/packages', '/launch', '/runs']) {
      await go('project', `${shop.id}${at}`);
      await assertHarmless(`project${at}`);
      assert.ok(!(await tab.locator('body').innerText()).includes(RLO), `project${at}`);
    }
    await go('import');
    await tab.getByLabel('File or folder on this computer').fill(join(folder, 'hostile'));
    await tab.keyboard.press('Enter');
    await tab.getByText('The package is valid.').waitFor();
    await assertHarmless('the import');
  }));

  it('a link to another site opens without a way back', withHostileText(async ({ tab, openRun }) => {
    await openRun();
    const outside = await tab.locator('[role=log] a[href^=http]').evaluateAll((all) => all.map((one) => [one.target, one.rel]));
    for (const [target, rel] of outside) assert.deepEqual([target, /noopener/.test(rel), /noreferrer/.test(rel)], ['_blank', true, true]);
  }));

  it('what the server gives of a file is never a page', withHostileText(async ({ tab, api, go, shop }) => {
    await go();
    for (const name of ['x.svg', 'x.html']) {
      const kind = await tab.evaluate(async (path) => (await fetch(path)).headers.get('content-type'), `/api/projects/${shop.id}/file?path=${name}`);
      assert.match(kind, /application\/json/);
    }
    for (const path of ['..%2Fhome%2Fconfig.toml', '%2e%2e/home/config.toml', '@pkg/bmad.json', '/etc/passwd']) {
      const answer = await api('GET', `/api/projects/${shop.id}/file?path=${path}`);
      assert.equal(answer.text, undefined, path);
      assert.ok(answer.message, path);
    }
  }));
});

/** Makes a test with another site on this computer. */
const withForeignSite = (body) => async (t) => {
  const foreign = await startForeignSite('<!doctype html><title>elsewhere</title><body></body>');
  try {
    // What the other page is refused is written to its console.
    await withFixture({ packages: [], allowedErrors: /./ }, (fixture) => body({ ...fixture, foreign, target: fixture.server.own }))(t);
  } finally {
    await foreign.close();
  }
};

describe('another page', () => {
  // The first is of the same site for a browser, because ports do not count there.
  for (const host of ['127.0.0.1', 'localhost']) {
    it(`at ${host} gets nothing and changes nothing`, withForeignSite(async ({ tab, api, project, foreign, target }) => {
      const shop = await project('shop');
      const readState = async () => [await api('GET', '/api/projects'), await api('GET', '/api/settings')];
      const before = await readState();
      await tab.goto(`http://${host}:${foreign.port}/`);
      const came = await tab.evaluate(
        async ([at, id]) => {
          const read = (how) => fetch(`${at}/api/app`, how).then(async (answer) => `read ${answer.type} ${await answer.text()}`, () => 'refused');
          const send = (method, path, headers, mode, body) =>
            fetch(at + path, { method, headers, mode, body, credentials: 'include' }).then((answer) => `${answer.type} ${answer.status}`, () => 'refused');
          const loads = (tag, from) =>
            new Promise((done) => {
              const node = document.createElement(tag);
              node.onload = () => done(tag === 'iframe' ? (node.contentDocument === null ? 'closed' : 'open') : 'loaded');
              node.onerror = () => done('refused');
              node[tag === 'link' ? 'href' : 'src'] = from;
              if (tag === 'link') node.rel = 'stylesheet';
              document.body.append(node);
            });
          const form = document.createElement('form');
          Object.assign(form, { method: 'POST', action: `${at}/api/projects`, target: 'sink', enctype: 'text/plain' });
          form.innerHTML = '<input name=\'{"path":"/tmp","x":"\' value=\'"}\'>';
          const sink = document.createElement('iframe');
          sink.name = 'sink';
          document.body.append(sink, form);
          const posted = new Promise((done) => (sink.onload = () => done('answered')));
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
            socket: await new Promise((done) => {
              const socket = new WebSocket(`${at.replace('http', 'ws')}/api/events`);
              socket.onopen = () => done('open');
              socket.onerror = () => done('refused');
            }),
            events: await new Promise((done) => {
              const source = new EventSource(`${at}/api/events`, { withCredentials: true });
              source.onopen = () => done('open');
              source.onerror = () => done('refused');
            }),
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
      assert.deepEqual(await readState(), before);
      assert.equal((await api('GET', '/api/app')).code, undefined, 'no browser was put out');
    }));
  }

  it('a name that was bent to this address gets not even the page', withFixture({ packages: [], allowedErrors: /./, browserArgs: ['--host-resolver-rules=MAP evil.test 127.0.0.1'] }, async ({ tab, server }) => {
    const answer = await tab.goto(`http://evil.test:${new URL(server.own).port}/`);
    assert.equal(answer.status(), 403);
    assert.equal(await tab.locator('#app').count(), 0);
    assert.equal(await tab.evaluate(async () => (await fetch('/api/app')).status), 403);
  }));

  it('a browser without the cookie is told how to come in, and nothing else', withFixture({ packages: [] }, async ({ chrome, address, project }) => {
    const shop = await project('shop');
    const context = await chrome.newContext(VIEW);
    try {
      const tab = await context.newPage();
      await tab.goto(address('project', shop.id));
      await tab.getByRole('heading', { name: 'This browser was not let in' }).waitFor();
      assert.ok(!(await tab.content()).includes('shop'), 'not even a name');
    } finally {
      await context.close();
    }
  }));
});

/** Makes a test of a server that is flooded: its memory in mebibytes, its port, and the head of a request with the cookie. */
const withFlood = (body) =>
  withFixture({ model: { nodes: { 'step-01-intake': [{ say: `{{repeat:${'many-words-'.repeat(200)} :100}}`, calls: [{ 'fs.list': { path: '@project' } }], times: 10 }, { calls: [{ 'ui.ask_user': { question: 'Enough?' } }] }] } } }, async (fixture) => {
    const port = Number(new URL(fixture.server.own).port);
    const memory = async () => (await fixture.server.memory()).now;
    const head = (method, path, more = '') => `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncookie: ${fixture.cookie}\r\n${more}`;
    await body({ ...fixture, port, memory, head });
  });

describe('floods', () => {
  it('a package of hundreds of megabytes in pieces is refused early, and memory stays as it is', withFlood(async ({ api, cookie, port, memory }) => {
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
    assert.equal((await api('GET', '/api/packages')).packages.length, 1);
  }));

  it('one that says how long it is is refused before it is sent', withFlood(async ({ port, head }) => {
    const socket = connect(port, '127.0.0.1');
    socket.write(head('POST', '/api/packages/inspect-file', 'content-type: application/octet-stream\r\ncontent-length: 500000000\r\n\r\n'));
    const answer = await new Promise((done) => socket.once('data', (data) => done(String(data))));
    assert.match(answer, /^HTTP\/1\.1 413/);
    socket.destroy();
  }));

  it('clients that are slow, or read nothing, keep no page waiting and cost little', withFlood(async ({ tab, api, project, startRun, showRun, port, memory, head }) => {
    const shop = await project('shop');
    const run = await startRun(shop.id);
    const before = await memory();
    const sockets = [
      ...Array.from({ length: 60 }, () => 'GET /api/app HTTP/1.1\r\nhost: '),
      ...Array.from({ length: 60 }, () => head('POST', '/api/runs', 'content-type: application/json\r\ncontent-length: 100000\r\n\r\n{"project"')),
      ...Array.from({ length: 20 }, () => head('GET', `/api/events?watch=run/${run}`, '\r\n')),
    ].map((text) => {
      const socket = connect({ port, host: '127.0.0.1' });
      socket.on('error', () => undefined);
      socket.pause();
      socket.write(text);
      return socket;
    });
    try {
      await until('it has said everything', async () => (await api('GET', `/api/runs/${run}`)).question);
      await showRun(shop.id, run);
      await tab.getByText('Enough?').first().waitFor();
      const grown = (await memory()) - before;
      assert.ok(grown < 96, `${grown} MiB more`);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  }));
});
