import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  plugins: [svelte()],
  build: {
    target: 'es2022',
    // The page may run no inline script, so nothing is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: 'manifest.json',
  },
  resolve: process.env.VITEST ? { conditions: ['browser'] } : {},
  server: {
    // `crewagent ui --port 4747 --no-open` serves the API while the page is developed.
    proxy: { '/api': 'http://127.0.0.1:4747', '/enter': 'http://127.0.0.1:4747' },
  },
  test: { include: ['tests/unit/**/*.test.ts'], environment: 'jsdom' },
});
