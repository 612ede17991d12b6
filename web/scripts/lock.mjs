/** Checks that the lock holds rolldown for every platform and no address of a registry; else `npm ci` fails on other machines. */

import { readFileSync } from 'node:fs';

const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));
const missing = Object.keys(packages['node_modules/rolldown'].optionalDependencies).filter((name) => !packages[`node_modules/${name}`]);
const addressed = Object.keys(packages).filter((name) => packages[name].resolved);

if (missing.length > 0) console.error(`The lock lacks ${missing.join(', ')}; remove it with node_modules and run npm install.`);
if (addressed.length > 0) console.error(`The lock names registries for ${addressed.join(', ')}; .npmrc keeps them out of a new one.`);
process.exitCode = missing.length + addressed.length > 0 ? 1 : 0;
