/** Writer of ZIP archives without compression: the form in which the browser sends a folder. */

export interface ZipEntry {
  /** Path with `/`, from the root of the archive. */
  path: string;
  bytes: Uint8Array<ArrayBuffer>;
}

const TABLE = Uint32Array.from({ length: 256 }, (_, at) => {
  let value = at;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** Computes the CRC-32 of bytes. */
export function crc32(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = (TABLE[(sum ^ byte) & 0xff] as number) ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}

/** Version 2.0, and names in UTF-8. */
const [VERSION, UTF8] = [20, 0x800];
/** The first day that the format can name: equal folders make equal archives. */
const DAY = 0x21;

/** Writes numbers of two or four bytes. */
function header(signature: number, parts: readonly (readonly [2 | 4, number])[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(4 + parts.reduce((sum, [size]) => sum + size, 0));
  const view = new DataView(bytes.buffer);
  view.setUint32(0, signature, true);
  let at = 4;
  for (const [size, value] of parts) {
    if (size === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += size;
  }
  return bytes;
}

/** Returns an archive of the entries. */
export function zip(entries: readonly ZipEntry[]): Blob {
  const [local, central]: [BlobPart[], BlobPart[]] = [[], []];
  let [offset, size] = [0, 0];
  for (const { path, bytes } of entries) {
    const name = new TextEncoder().encode(path);
    const about = [[2, VERSION], [2, UTF8], [2, 0], [2, 0], [2, DAY], [4, crc32(bytes)], [4, bytes.length], [4, bytes.length], [2, name.length], [2, 0]] as const;
    local.push(header(0x04034b50, about), name, bytes);
    const entry = header(0x02014b50, [[2, VERSION], ...about, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]]);
    central.push(entry, name);
    offset += 30 + name.length + bytes.length;
    size += entry.length + name.length;
  }
  const end = header(0x06054b50, [[2, 0], [2, 0], [2, entries.length], [2, entries.length], [4, size], [4, offset], [2, 0]]);
  return new Blob([...local, ...central, end], { type: 'application/zip' });
}
