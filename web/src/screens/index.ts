export { default as ImportScreen } from './ImportScreen.svelte';
export { default as LaunchScreen } from './LaunchScreen.svelte';
export { default as PackagesScreen } from './PackagesScreen.svelte';
export { default as ProjectScreen } from './ProjectScreen.svelte';
export { default as RunsScreen } from './RunsScreen.svelte';
export { default as SettingsScreen } from './SettingsScreen.svelte';
