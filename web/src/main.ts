import './tokens.css';
import './base.css';
import { mount } from 'svelte';
import App from './App.svelte';
import { app } from './lib/state/app.svelte';
import { applyPrefs } from './lib/state/prefs.svelte';

await applyPrefs();
const target = document.getElementById('app');
if (target) mount(App, { target });
void import('./lib/focus').then(({ watchFocus }) => watchFocus());
void app.begin();
