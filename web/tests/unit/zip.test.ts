import { describe, expect, it } from 'vitest';
import { crc32, zip } from '../../src/lib/zip';

const bytes = (text: string) => new Uint8Array(new TextEncoder().encode(text));

/** Reads the bytes of a blob. */
const read = (blob: Blob): Promise<Uint8Array> =>
  new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(new Uint8Array(reader.result as ArrayBuffer));
    reader.readAsArrayBuffer(blob);
  });

describe('an archive', () => {
  it('has the checksums that the format asks for', () => {
    expect(crc32(bytes('123456789'))).toBe(0xcbf43926);
    expect(crc32(bytes(''))).toBe(0);
  });

  it('names every entry with its place and size', async () => {
    const made = await read(zip([{ path: 'a/步骤.md', bytes: bytes('one') }, { path: 'b', bytes: bytes('') }]));
    const view = new DataView(made.buffer);
    const end = made.length - 22;
    expect(view.getUint32(end, true)).toBe(0x06054b50);
    expect(view.getUint16(end + 10, true)).toBe(2);
    const [size, start] = [view.getUint32(end + 12, true), view.getUint32(end + 16, true)];
    expect(start + size).toBe(end);
    const named: string[] = [];
    for (let at = start; at < end; ) {
      expect(view.getUint32(at, true)).toBe(0x02014b50);
      const [length, offset] = [view.getUint16(at + 28, true), view.getUint32(at + 42, true)];
      named.push(new TextDecoder().decode(made.slice(at + 46, at + 46 + length)));
      expect(view.getUint32(offset, true)).toBe(0x04034b50);
      expect(view.getUint32(offset + 14, true)).toBe(view.getUint32(at + 16, true));
      at += 46 + length;
    }
    expect(named).toEqual(['a/步骤.md', 'b']);
  });
});
