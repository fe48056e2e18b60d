// Writes tar archives (POSIX ustar; longer paths as pax records): sorted names, one time, owner root. The same files always give the same
// bytes, on every machine.
import { createReadStream, lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

export type TarEntry = {
  /** Without a leading slash; a folder's path ends with a slash. */
  readonly path: string
  readonly mode: number
  /** For a file: its content, or its place on disk. */
  readonly content?: Buffer | { readonly file: string; readonly size: number }
  /** For a symbolic link. */
  readonly target?: string
  /** User and group; default: root. */
  readonly owner?: number
}

const BLOCK = 512

/** Returns everything below a folder as entries below `prefix`, which is empty or ends with a slash. Only the permission to execute is kept. */
export function entriesBelow(folder: string, prefix = ''): TarEntry[] {
  return readdirSync(folder).flatMap((name): TarEntry[] => {
    const [file, path] = [join(folder, name), `${prefix}${name}`]
    const stat = lstatSync(file)
    if (stat.isSymbolicLink()) return [{ path, mode: 0o777, target: readlinkSync(file) }]
    if (stat.isDirectory()) return [{ path: `${path}/`, mode: 0o755 }, ...entriesBelow(file, `${path}/`)]
    const mode = (stat.mode & 0o100) === 0 ? 0o644 : 0o755
    return [{ path, mode, content: { file, size: stat.size } }]
  })
}

/** Returns the folders above a path, such as `usr/` and `usr/lib/` for `usr/lib/pharos/`. */
export function foldersAbove(path: string): TarEntry[] {
  const parts = path.split('/').filter((part) => part !== '')
  return parts.slice(0, -1).map((_, at) => ({ path: `${parts.slice(0, at + 1).join('/')}/`, mode: 0o755 }))
}

/** Yields the archive; `time` is in seconds since 1970. The last of several entries with the same path is kept. */
export async function* tarOf(entries: readonly TarEntry[], time: number): AsyncGenerator<Buffer> {
  const unique = new Map(entries.map((entry) => [entry.path, entry]))
  const sorted = [...unique.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
  for (const entry of sorted) {
    yield* headersOf(entry, time)
    yield* contentOf(entry)
  }
  yield Buffer.alloc(2 * BLOCK)
}

function* headersOf(entry: TarEntry, time: number): Generator<Buffer> {
  const records = [...tooLong('path', entry.path), ...tooLong('linkpath', entry.target ?? '')].join('')
  if (records !== '') {
    const content = Buffer.from(records)
    yield header({ path: 'pax', mode: 0o644, content }, 'x', time)
    yield padded(content)
  }
  yield header(entry, typeOf(entry), time)
}

const typeOf = ({ path, target }: TarEntry) => (target !== undefined ? '2' : path.endsWith('/') ? '5' : '0')

/** A record of pax begins with its own length, the digits of the length included. */
function tooLong(name: string, value: string): string[] {
  if (Buffer.byteLength(value) <= 100) return []
  const rest = Buffer.byteLength(` ${name}=${value}\n`)
  const length = rest + String(rest + String(rest).length).length
  return [`${length} ${name}=${value}\n`]
}

function header(
  { path, mode, content, target = '', owner = 0 }: TarEntry,
  type: string,
  time: number,
): Buffer {
  const block = Buffer.alloc(BLOCK)
  const octal = (value: number, at: number, length: number) =>
    block.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at)
  block.write(path, 0, 100)
  octal(mode, 100, 8)
  octal(owner, 108, 8)
  octal(owner, 116, 8)
  octal(sizeOf(content), 124, 12)
  octal(time, 136, 12)
  block.write(type, 156)
  block.write(target, 157, 100)
  block.write('ustar\x0000', 257)
  // The sum is computed with spaces in its own place.
  block.fill(' ', 148, 156)
  const sum = block.reduce((total, octet) => total + octet, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

function sizeOf(content: TarEntry['content']): number {
  if (content === undefined) return 0
  return 'file' in content ? content.size : content.length
}

async function* contentOf({ content }: TarEntry): AsyncGenerator<Buffer> {
  if (content === undefined) return
  if (!('file' in content)) return yield padded(content)
  yield* createReadStream(content.file) as AsyncIterable<Buffer>
  yield paddingOf(content.size)
}

const padded = (content: Buffer) => Buffer.concat([content, paddingOf(content.length)])

const paddingOf = (size: number) => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK)
