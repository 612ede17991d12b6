import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

/** Modules that every page needs. */
const BASE =
  /node_modules\/(svelte|clsx|esm-env)\/|preload-helper|src\/lib\/(api\/(client|hidden|stream)|state\/(app|prefs|route|shell|toasts|confirm|drop|files)\.|i18n\/index|keys|actions|names|payload|screens|status)|src\/(App|shell\/(Rail|StatusBar|TopBar))\.svelte|src\/ui\/(Icon|StateIcon|Pill|Fault|Ticks|ServerText|Split|Waiting|Toasts)\.svelte/;

export default defineConfig({
  plugins: [svelte()],
  build: {
    target: 'es2022',
    // The content security policy forbids inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: 'manifest.json',
    rolldownOptions: {
      output: {
        // One chunk for the small modules that the first page needs.
        codeSplitting: { groups: [{ name: 'base', test: BASE }] },
      },
    },
  },
  resolve: process.env.VITEST ? { conditions: ['browser'] } : {},
  server: {
    // `crewagent ui --port 4747 --no-open` serves the API while the page is developed.
    proxy: { '/api': 'http://127.0.0.1:4747', '/enter': 'http://127.0.0.1:4747' },
    // Tests compare translations with the codes in the source of the server.
    fs: process.env.VITEST ? { allow: ['..'] } : {},
  },
  test: { include: ['tests/unit/**/*.test.ts'], environment: 'jsdom' },
});
