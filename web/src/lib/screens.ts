/**
 * The table of screens. Routes, addresses, titles, links of the rail, shortcuts and lazy imports derive from it: a new screen
 * needs a component, a row here, and its texts in both languages (`title`, `command`, and `keys.NAME` for a shortcut).
 */

import type { Component } from 'svelte';
import type { IconName } from '../ui/Icon.svelte';
import { type Key, loadTexts } from './i18n/index.svelte';

export interface Screen {
  /** Address: `:name` is a parameter in the path, names behind `?` are optional parameters in the query. */
  path: string;
  /** Values of parameters in the path that an address may leave out. */
  defaults?: Record<string, string>;
  /** Title of the page and label in the rail. A work has a title of its own. */
  title?: Key;
  icon?: IconName;
  /** Position in the rail: above the screens of a project, among them, or at the end. */
  rail?: 'first' | 'project' | 'last';
  /** Screen that the rail marks while this one is open. */
  within?: string;
  /** Default keys of its shortcut. The text `keys.NAME` names it. */
  key?: string;
  /** Label in the palette of a screen without a shortcut. */
  command?: Key;
  load: () => Promise<{ default: Component<any> }>;
}

type InPath<Path extends string> = Path extends `${infer Own}?${string}`
  ? InPath<Own>
  : Path extends `${string}:${infer Name}/${infer Rest}`
    ? Name | InPath<Rest>
    : Path extends `${string}:${infer Name}`
      ? Name
      : never;
type InQuery<Path extends string> = Path extends `${string}?${infer List}` ? Split<List> : never;
type Split<List extends string> = List extends `${infer Name}&${infer Rest}` ? Name | Split<Rest> : List;
type Params<Path extends string> = { [Name in InPath<Path>]: string } & { [Name in InQuery<Path>]?: string | undefined };

/** Checks that each component takes the name and the parameters of its route as props, or none. */
type Checked<Rows extends Record<string, Screen>> = {
  [Name in keyof Rows]: { load: () => Promise<{ default: Component<{ name: Name } & Params<Rows[Name]['path']>> | Component<Record<string, never>> }> };
};
const checked = <const Rows extends Record<string, Screen>>(rows: Rows & Checked<Rows>): Rows => rows;

/** Loads a screen together with its texts. */
const worded = <Module>(load: () => Promise<Module>) => async (): Promise<Module> => (await Promise.all([load(), loadTexts('home')]))[0];

/** Loads the chunk of all screens but those that a visit starts with. */
const bundled = <Module>(file: string): (() => Promise<Module>) => worded<Module>(async () => (await import('../screens/bundle')).screens[`./${file}.svelte`] as Module);
const loadWork = () => import('../screens/WorkScreen.svelte');

/** Rows in the order of the shortcuts; the rail keeps it within one position. */
const rows = checked({
  packages: {
    path: '/project/:project/packages?package',
    title: 'rail.packages',
    icon: 'packages',
    rail: 'project',
    key: 'g p',
    load: bundled<typeof import('../screens/PackagesScreen.svelte')>('PackagesScreen'),
  },
  runs: {
    path: '/project/:project/runs',
    title: 'rail.runs',
    icon: 'runs',
    rail: 'project',
    key: 'g r',
    load: bundled<typeof import('../screens/RunsScreen.svelte')>('RunsScreen'),
  },
  settings: {
    path: '/settings/:section?add',
    defaults: { section: 'models' },
    title: 'rail.settings',
    icon: 'settings',
    rail: 'last',
    key: 'g s',
    load: bundled<typeof import('../screens/SettingsScreen.svelte')>('SettingsScreen'),
  },
  start: {
    path: '/',
    title: 'rail.start',
    icon: 'home',
    rail: 'first',
    key: 'g h',
    load: worded<typeof import('../screens/StartScreen.svelte')>(() => import('../screens/StartScreen.svelte')),
  },
  import: {
    path: '/import',
    title: 'import.title',
    within: 'start',
    command: 'palette.import',
    load: bundled<typeof import('../screens/ImportScreen.svelte')>('ImportScreen'),
  },
  launch: {
    path: '/project/:project/launch?package&workflow',
    title: 'launch.title',
    load: bundled<typeof import('../screens/LaunchScreen.svelte')>('LaunchScreen'),
  },
  project: { path: '/project/:project', load: bundled<typeof import('../screens/ProjectScreen.svelte')>('ProjectScreen') },
  conversation: { path: '/project/:project/work/:id', load: loadWork },
  run: { path: '/project/:project/run/:id', load: loadWork },
});

export type ScreenName = keyof typeof rows;

export type ScreenRoute = { [Name in ScreenName]: { name: Name } & Params<(typeof rows)[Name]['path']> }[ScreenName];

export const SCREENS: Record<ScreenName, Screen> = rows;

export const SCREEN_NAMES = Object.keys(rows) as ScreenName[];

export const isScreen = (name: string): name is ScreenName => Object.hasOwn(rows, name);
