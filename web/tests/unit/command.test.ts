import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isSecret, joinCommand, splitCommand } from '../../src/lib/command';

it('splits a line as a shell would', () => {
  expect(splitCommand('npx -y server')).toEqual(['npx', '-y', 'server']);
  expect(splitCommand(`  a "b c" 'd "e' f\\ g "" `)).toEqual(['a', 'b c', 'd "e', 'f g', '']);
  expect(splitCommand('')).toEqual([]);
});

it('shows exactly the words that it is given', () => {
  expect(joinCommand(['npx', '-y', '@scope/server', '${HOME}', 'two words', "it's"])).toBe(`npx -y @scope/server \${HOME} 'two words' 'it'\\''s'`);
  fc.assert(fc.property(fc.array(fc.string({ minLength: 1 })), (all) => {
    expect(splitCommand(joinCommand(all))).toEqual(all);
  }));
});

it('knows the names of secrets', () => {
  expect(['API_KEY', 'authorization', 'X-Auth'].every(isSecret)).toBe(true);
  expect(['MODE', 'KEYBOARD', 'PATH'].some(isSecret)).toBe(false);
});
