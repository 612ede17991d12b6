/** Looks of nodes and edges in the graph of a run. */

import type { Picture, PictureEdge, PictureNode, RunState } from '../lib/api/types';
import { t } from '../lib/i18n/index.svelte';
import { nodeKey } from '../lib/reduce';
import type { NodeStats, View } from '../lib/view';
import { type Look, lookOfPhase } from '../lib/status';

export interface NodeLook {
  look: Look;
  current: boolean;
  /** The run can move to it from the current node. */
  next: boolean;
  visits: number;
  stats: NodeStats | undefined;
}

export type EdgeLook = 'taken' | 'next' | 'plain' | 'skipped';

export interface GraphLook {
  nodes: Map<string, NodeLook>;
  edges: EdgeLook[];
  done: number;
  /** True for a workflow without a run. */
  isPreview: boolean;
}

/** Returns the look of a workflow without a run. */
export function previewLook(picture: Picture): GraphLook {
  const look: NodeLook = { look: 'ready', current: false, next: false, visits: 0, stats: undefined };
  return { nodes: new Map(picture.nodes.map((node) => [node.id, look])), edges: picture.edges.map(() => 'plain'), done: 0, isPreview: true };
}

/** Returns the nodes that a node leads to, along edges that are drawn or not. */
export function targetsOf(picture: Picture, id: string | null): string[] {
  const resumed = picture.nodes.find((node) => node.id === id)?.resumesAt ?? [];
  return [...picture.edges.filter((edge) => edge.from === id).map((edge) => edge.to), ...resumed];
}

/**
 * Returns the edges between steps that were done before the first event: a fork inherits the order of its steps, not the edges
 * that were taken.
 */
function inheritedEdges(state: RunState, visited: ReadonlyMap<string, number>): Set<string> {
  const path = [...state.stepsCompleted, state.currentNodeId];
  return new Set(path.flatMap((node, at) => (at > 0 && !visited.has(path[at - 1] ?? '') ? [`${path[at - 1]}\n${node}`] : [])));
}

export function graphLook(picture: Picture, view: View, call: number, atWork: boolean): GraphLook {
  const state = view.states[call];
  if (!state) return { ...previewLook(picture), isPreview: false };
  const own = view.visits.filter((visit) => (visit.call ?? 0) === call);
  const done = new Set(state.stepsCompleted);
  const isActive = view.frames.findLast((frame) => !frame.over)?.call === call || (call === 0 && view.frames.every((frame) => frame.over));
  const here = state.currentNodeId;
  const isOver = state.complete;
  const from = new Set(isOver ? [] : targetsOf(picture, here));
  const phase = view.phase === 'Running' && !atWork ? 'Paused' : view.phase;
  const currentLook = (): Look => {
    if (isOver) return 'done';
    if (!isActive) return 'running';
    return lookOfPhase(phase === 'Completed' ? 'WaitingUser' : phase, view.question?.question.kind);
  };
  const counts = new Map<string, number>();
  for (const visit of own) counts.set(visit.nodeId, (counts.get(visit.nodeId) ?? 0) + 1);
  const of = (node: PictureNode): NodeLook => {
    const visits = counts.get(node.id) ?? 0;
    const current = node.id === here && !isOver;
    const skipped = isOver && visits === 0 && !done.has(node.id);
    const look = current ? currentLook() : done.has(node.id) ? 'done' : skipped ? 'skipped' : 'ready';
    return { look, current, next: from.has(node.id) && !current && !done.has(node.id), visits, stats: view.nodes[nodeKey(node.id, call || undefined)] };
  };
  const taken = new Set(own.filter((visit) => visit.from !== undefined).map((visit) => `${visit.from}\n${visit.nodeId}\n${visit.label ?? ''}`));
  const before = inheritedEdges(state, counts);
  const edge = (one: PictureEdge): EdgeLook => {
    if (taken.has(`${one.from}\n${one.to}\n${one.label}`) || before.has(`${one.from}\n${one.to}`)) return 'taken';
    if (one.from === here && !isOver) return 'next';
    return isOver ? 'skipped' : 'plain';
  };
  return { nodes: new Map(picture.nodes.map((node) => [node.id, of(node)])), edges: picture.edges.map(edge), done: done.size, isPreview: false };
}

/** Reuses the values of unchanged nodes, so that only changed ones render again. */
export function reuseNodes(next: GraphLook, before: GraphLook | undefined): GraphLook {
  const isSame = (one: NodeLook, other: NodeLook): boolean =>
    one.look === other.look && one.current === other.current && one.next === other.next && one.visits === other.visits && one.stats === other.stats;
  for (const [id, one] of next.nodes) {
    const known = before?.nodes.get(id);
    if (known && isSame(one, known)) next.nodes.set(id, known);
  }
  return next;
}

/** Describes an edge: its name, its target and, if it has one, its condition. */
export function edgeText(edge: PictureEdge, nodes: readonly PictureNode[]): string {
  const to = nodes.find((node) => node.id === edge.to)?.title ?? edge.to;
  const parts = [`${edge.label} → ${to}`, edge.isDefault ? t('graph.default') : '', edge.condition?.trim() ? t('graph.condition', { condition: edge.condition.trim() }) : ''];
  return parts.filter(Boolean).join(' ');
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Returns the bounding box of an edge with its label. */
export function boxOf({ points, labelBox }: PictureEdge): Box {
  const [wide, tall] = [labelBox.width / 2, labelBox.height / 2];
  const xs = [...points.map((point) => point.x), labelBox.x - wide, labelBox.x + wide];
  const ys = [...points.map((point) => point.y), labelBox.y - tall, labelBox.y + tall];
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}

/** Returns the bounding box of several boxes. */
export function around(boxes: readonly Box[]): Box {
  const [left, top] = [Math.min(...boxes.map((box) => box.x)), Math.min(...boxes.map((box) => box.y))];
  const [right, bottom] = [Math.max(...boxes.map((box) => box.x + box.width)), Math.max(...boxes.map((box) => box.y + box.height))];
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** Finds the node for an arrow key: along edges for up and down, on the same level for left and right. */
export function neighbour(picture: Picture, id: string, key: string): string | undefined {
  const at = picture.nodes.find((node) => node.id === id);
  if (!at) return picture.nodes[0]?.id;
  if (key === 'ArrowDown') return picture.edges.find((edge) => edge.from === id && edge.to !== id)?.to;
  if (key === 'ArrowUp') return picture.edges.find((edge) => edge.to === id && edge.from !== id)?.from;
  const side = key === 'ArrowRight' ? 1 : -1;
  const centre = (node: PictureNode): number => node.x + node.width / 2;
  const level = picture.nodes.filter((node) => Math.abs(node.y - at.y) < 40 && (centre(node) - centre(at)) * side > 0);
  return level.sort((one, other) => (centre(one) - centre(other)) * side)[0]?.id;
}
