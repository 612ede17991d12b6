/** A package with a large graph, and a model that walks through its beginning. */

import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { example } from '../harness.mjs';

/** A chain of decisions with two ways each that meet again; the end is the last node. */
function graph(nodes) {
  const edges = [];
  const all = [];
  const name = (at) => `n-${String(at).padStart(3, '0')}`;
  for (let at = 0; all.length < nodes; at = all.length) {
    const left = nodes - at;
    if (left >= 5) {
      const [step, decision, one, other, next] = [0, 1, 2, 3, 4].map((by) => name(at + by));
      all.push({ id: step, type: 'step' }, { id: decision, type: 'decision' }, { id: one, type: 'step' }, { id: other, type: 'step' });
      edges.push({ from: step, to: decision, label: 'next' }, { from: decision, to: one, label: 'left' }, { from: decision, to: other, label: 'right' });
      edges.push({ from: one, to: next, label: 'next' }, { from: other, to: next, label: 'next' });
    } else {
      all.push({ id: name(at), type: left === 1 ? 'end' : 'step' });
      if (left > 1) edges.push({ from: name(at), to: name(at + 1), label: 'next' });
    }
  }
  return { nodes: all, edges: edges.map((edge) => ({ ...edge, isDefault: edge.label !== 'left' })) };
}

const frontmatter = (fields) => `---\n${Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`).join('')}---\n`;

/** Writes the package and the scenario; gives where they are, and the nodes that the model goes to. */
export async function largePackage(folder, nodes, moves) {
  const [path, scenario] = [join(folder, 'large'), join(folder, 'large.yaml')];
  await mkdir(join(path, 'steps'), { recursive: true });
  const { nodes: all, edges } = graph(nodes);
  const document = (name, value) => writeFile(join(path, name), JSON.stringify(value));
  await document('bmad.json', {
    schemaVersion: '1.1',
    name: 'large',
    version: '0.1.0',
    description: 'A graph of many nodes.',
    author: 'CrewAgent',
    createdAt: '2026-11-15T05:00:00Z',
    entry: { workflow: 'workflow.md', graph: 'workflow.graph.json', agents: 'agents.json' },
  });
  await copyFile(join(example('hello-branch'), 'agents.json'), join(path, 'agents.json'));
  const fresh = { schemaVersion: '1.1', workflowType: 'large', currentNodeId: '', stepsCompleted: [], variables: {}, decisionLog: [], artifacts: [], inputDocuments: [] };
  await writeFile(join(path, 'workflow.md'), `${frontmatter(fresh)}\n# Large\n\nA graph of many nodes.\n`);
  const titled = all.map((node) => ({ ...node, file: `steps/${node.id}.md`, title: `The ${node.type} ${node.id}`, agentId: 'analyst', inputs: [], outputs: [] }));
  await document('workflow.graph.json', { schemaVersion: '1.1', entryNodeId: all[0].id, nodes: titled, edges });
  for (const { id, type, title } of titled) {
    const transitions = edges.filter((edge) => edge.from === id).map(({ to, label, isDefault }) => ({ to, label, isDefault }));
    const head = { schemaVersion: '1.1', nodeId: id, type, title, agentId: 'analyst', inputs: [], outputs: [], setsVariables: [], transitions };
    await writeFile(join(path, 'steps', `${id}.md`), `${frontmatter(head)}\n# ${title}\n\n## Goal\n\nGo on.\n\n## Instructions\n\nGo on.\n`);
  }
  const visited = [all[0].id];
  while (visited.length <= moves) visited.push(edges.find((edge) => edge.from === visited.at(-1) && edge.isDefault).to);
  const reply = (to) => ({
    say: 'I go on.',
    pace: { characters: 1, milliseconds: 25 },
    calls: [{ 'fs.apply_patch': { path: '@state/workflow.md', operation: 'updateFrontmatter', update: { currentNodeId: { set: to } } } }],
  });
  const replies = Object.fromEntries(visited.map((id, at) => [id, [at < moves ? reply(visited[at + 1]) : { say: 'Here I rest. What now?' }]]));
  // The first one waits for the user, so that the page is there when it begins.
  replies[visited[0]].unshift({ say: 'Shall I?' });
  await writeFile(scenario, JSON.stringify({ scenario: 'a walk through a large graph', nodes: replies }));
  return { path, model: `scripted:${scenario}`, visited };
}
