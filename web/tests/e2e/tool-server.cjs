/** A tool server with a few tools that starts fast: `echo`, `get-sum`, `get-env`, and `wait`, which never answers. */

const tool = (name, description) => ({ name, description, inputSchema: { type: 'object' } });
const tools = [tool('echo', 'Echoes back the input'), tool('get-sum', 'Adds two numbers'), tool('get-env', 'Returns the environment'), tool('wait', 'Waits for ever')];

let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (data) => {
  const lines = (rest + data).split('\n');
  rest = lines.pop();
  for (const line of lines.filter(Boolean)) {
    const { id, method, params } = JSON.parse(line);
    const results = {
      initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'simple', version: '1' } },
      'tools/list': { tools },
      'tools/call': { content: [{ type: 'text', text: `Echo: ${params?.arguments?.message}` }] },
      ping: {},
    };
    const isAnswered = id !== undefined && results[method] && params?.name !== 'wait';
    if (isAnswered) process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: results[method] })}\n`);
  }
});
