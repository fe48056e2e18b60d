// Writes blocks of ClickHouse's Native format from typed arrays, without an object or text per row. The layout is
// HTTP's (revision 0): number of columns and rows, then for each column its name, its type and its values,
// little-endian. Source: https://clickhouse.com/docs/interfaces/formats/Native

/** The values of a column. Arrays may be longer than the block; the first rows count. */
export type NativeColumn =
  | { readonly name: string; readonly type: 'UInt8' | `Enum8(${string})`; readonly values: Uint8Array }
  | { readonly name: string; readonly type: 'UInt16'; readonly values: Uint16Array }
  | {
      readonly name: string
      readonly type: 'UInt32' | 'DateTime' | `DateTime(${string})`
      readonly values: Uint32Array
    }
  /** The low and the high half of each value. */
  | { readonly name: string; readonly type: 'UInt64'; readonly low: Uint32Array; readonly high: Uint32Array }
  /** Four words for each value, the most significant first; IPv4 as ::ffff:a.b.c.d. */
  | { readonly name: string; readonly type: 'IPv6'; readonly words: Uint32Array }
  /** The type defines the number of bytes per value, such as 2 of a country in FixedString(2). */
  | { readonly name: string; readonly type: `FixedString(${number})`; readonly bytes: Uint8Array }

/** Returns one block. Throws RangeError if a column has too few values. */
export function encodeNativeBlock(rows: number, columns: readonly NativeColumn[]): Uint8Array {
  const heads = columns.map(({ name, type }) => [encodeText(name), encodeText(type)] as const)
  const size =
    20 +
    columns.reduce(
      (sum, column, at) => sum + heads[at]![0].length + heads[at]![1].length + rows * widthOf(column),
      0,
    )
  const block = Buffer.allocUnsafe(size)
  let at = writeVarint(block, 0, columns.length)
  at = writeVarint(block, at, rows)
  for (const [index, column] of columns.entries()) {
    for (const head of heads[index]!) {
      block.set(head, at)
      at += head.length
    }
    const end = at + rows * widthOf(column)
    writeValues(block.subarray(at, end), rows, column)
    at = end
  }
  return block.subarray(0, at)
}

function widthOf(column: NativeColumn): number {
  if ('words' in column) return 16
  if ('low' in column) return 8
  if ('bytes' in column) return Number(/\d+/.exec(column.type)![0])
  return column.values.BYTES_PER_ELEMENT
}

function writeValues(target: Buffer, rows: number, column: NativeColumn): void {
  if ('words' in column) return writeWords(target, rows, column.name, column.words)
  if ('low' in column) return writeHalves(target, rows, column)
  const source = 'bytes' in column ? column.bytes : column.values
  const elements = 'bytes' in column ? target.length : rows
  copy(target, column.name, source, elements)
}

/** Words are in the machine's order, which is little-endian wherever Node runs today; addresses are in network order. */
function writeWords(target: Buffer, rows: number, name: string, words: Uint32Array): void {
  copy(target, name, words, 4 * rows)
  target.swap32()
}

function writeHalves(
  target: Buffer,
  rows: number,
  { name, low, high }: { name: string; low: Uint32Array; high: Uint32Array },
): void {
  assertLength(name, low.length, rows)
  assertLength(name, high.length, rows)
  // The target is not aligned: the values are put together beside it.
  const both = new Uint32Array(2 * rows)
  for (let row = 0; row < rows; row++) {
    both[2 * row] = low[row]!
    both[2 * row + 1] = high[row]!
  }
  target.set(new Uint8Array(both.buffer))
}

function copy(
  target: Buffer,
  name: string,
  source: Uint8Array | Uint16Array | Uint32Array,
  elements: number,
): void {
  assertLength(name, source.length, elements)
  target.set(new Uint8Array(source.buffer, source.byteOffset, elements * source.BYTES_PER_ELEMENT))
}

function assertLength(name: string, has: number, needs: number): void {
  if (has < needs) throw new RangeError(`column ${name} has ${has} values, the block needs ${needs}`)
}

function encodeText(text: string): Uint8Array {
  const bytes = Buffer.from(text)
  const head = Buffer.alloc(5)
  return Buffer.concat([head.subarray(0, writeVarint(head, 0, bytes.length)), bytes])
}

function writeVarint(target: Buffer, at: number, value: number): number {
  let rest = value
  let end = at
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) target[end++] = (rest % 0x80) | 0x80
  target[end++] = rest
  return end
}
