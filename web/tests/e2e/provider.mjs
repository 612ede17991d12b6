/** A model provider whose replies a test writes piece by piece, so that a test decides what has come when something breaks. */

import { createServer } from 'node:http';

/** Starts a provider at a port; 0 is any. */
export async function startProvider(port = 0) {
  const [arrived, awaited] = [[], []];
  const server = createServer((incoming, outgoing) => {
    incoming.resume();
    incoming.on('end', () => {
      const reply = openReply(outgoing);
      const taker = awaited.shift();
      if (taker) taker(reply);
      else arrived.push(reply);
    });
  });
  await new Promise((done, fail) => server.once('error', fail).listen(port, '127.0.0.1', done));
  const at = server.address().port;
  return {
    port: at,
    /** Settings in which runs use this provider, and ask it once more after a failure. */
    config: `[run]\nmodel = "mine"\n[models.mine]\nmodel = "m"\nprofile = "generic"\nbase-url = "http://127.0.0.1:${at}/v1"\nkey = "none"\nretries = 1\n`,
    /** Waits for the next request, and returns its reply. */
    nextRequest: () => new Promise((done) => (arrived.length > 0 ? done(arrived.shift()) : awaited.push(done))),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function openReply(outgoing) {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
  const write = (delta, finish = null) => outgoing.write(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
  return {
    /** Writes a piece of the text. */
    say: (text) => write({ role: 'assistant', content: text }),
    /** Writes the rest of the text, and ends the reply. */
    end: (text) => {
      write({ content: text });
      write({}, 'stop');
      outgoing.end('data: [DONE]\n\n');
    },
  };
}
