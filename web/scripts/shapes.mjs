// Types of the wire keep their shapes: their names may change, and parts of them may get names, but no shape may go.
// `node scripts/shapes.mjs --accept` writes what is kept anew.

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const TYPES = fileURLToPath(new URL('../src/lib/api/generated/types.ts', import.meta.url));
const KEPT = fileURLToPath(new URL('./shapes.txt', import.meta.url));

const program = ts.createProgram([TYPES], { strict: true, lib: ['lib.es2022.d.ts'] });
const checker = program.getTypeChecker();

/** Spells a type out, without names. A type inside itself becomes its distance to itself. */
function shape(type, open = []) {
  const isPlain = type.flags & (ts.TypeFlags.Boolean | ts.TypeFlags.Literal) || !(type.flags & ts.TypeFlags.StructuredType);
  if (isPlain) return checker.typeToString(type);
  if (open.includes(type)) return `^${open.length - open.indexOf(type)}`;
  const inner = [...open, type];
  if (type.isUnion()) {
    const parts = type.types.map((part) => shape(part, inner));
    return `(${parts.sort().join(' | ')})`;
  }
  if (checker.isArrayType(type)) {
    return `${checker.getTypeArguments(type).map((part) => shape(part, inner))}[]`;
  }
  const members = checker.getPropertiesOfType(type).map((property) => {
    const mark = property.flags & ts.SymbolFlags.Optional ? '?' : '';
    return `${property.name}${mark}: ${shape(checker.getTypeOfSymbol(property), inner)}`;
  });
  for (const index of checker.getIndexInfosOfType(type)) {
    members.push(`[${shape(index.keyType, inner)}]: ${shape(index.type, inner)}`);
  }
  return `{ ${members.sort().join('; ')} }`;
}

const declared = program.getSourceFile(TYPES).statements.filter(ts.isTypeAliasDeclaration);
const now = declared.map(({ name }) => {
  const spelled = shape(checker.getTypeAtLocation(name));
  return `${createHash('sha256').update(spelled).digest('hex').slice(0, 12)} ${name.text}`;
});
if (process.argv.includes('--accept')) writeFileSync(KEPT, `${now.join('\n')}\n`);
const digestOf = (line) => line.split(' ')[0];
const digests = new Set(now.map(digestOf));
const gone = readFileSync(KEPT, 'utf8').trimEnd().split('\n').filter((line) => !digests.has(digestOf(line)));
if (gone.length > 0) {
  console.error(`These shapes of the wire changed, and clients may depend on them:\n${gone.join('\n')}\n\`node scripts/shapes.mjs --accept\` keeps the new ones.`);
  process.exit(1);
}
