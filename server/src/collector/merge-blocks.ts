// Merges blocks of ClickHouse's Native format with the same columns into one block. Values have fixed widths, so that
// the values of a column follow each other. Pure.

/** A block without its values: the places of each column. */
type Layout = {
  readonly rows: number
  /** Names and types, with the octets of each value. */
  readonly columns: readonly { readonly head: Buffer; readonly width: number; readonly from: number }[]
}

/** Returns the block with all rows; undefined if the columns differ, or a block is incomplete. */
export function mergeBlocks(blocks: readonly Uint8Array[]): Uint8Array | undefined {
  const layouts: Layout[] = []
  for (const block of blocks) {
    const layout = layoutOf(Buffer.from(block.buffer, block.byteOffset, block.length))
    const first = layouts[0] ?? layout
    if (layout === undefined || !haveSameColumns(first!, layout)) return undefined
    layouts.push(layout)
  }
  const [first] = layouts
  if (first === undefined) return undefined
  const rows = layouts.reduce((sum, layout) => sum + layout.rows, 0)
  const parts: Uint8Array[] = [varint(first.columns.length), varint(rows)]
  for (const [at, { head }] of first.columns.entries()) {
    parts.push(head)
    for (const [index, { columns, rows: count }] of layouts.entries()) {
      const { from, width } = columns[at]!
      parts.push(blocks[index]!.subarray(from, from + count * width))
    }
  }
  return Buffer.concat(parts)
}

function layoutOf(block: Buffer): Layout | undefined {
  let at = 0
  const number = (): number => {
    let [value, factor] = [0, 1]
    for (;;) {
      const octet = block[at++]
      if (octet === undefined || factor > 2 ** 42) return NaN
      value += (octet & 127) * factor
      if (octet < 128) return value
      factor *= 128
    }
  }
  const count = number()
  const rows = number()
  const columns: Layout['columns'][number][] = []
  for (let column = 0; column < count; column++) {
    const start = at
    const nameLength = number()
    at += nameLength
    const length = number()
    const width = widthOf(block.toString('latin1', at, at + length))
    at += length
    if (width === undefined || Number.isNaN(at)) return undefined
    columns.push({ head: block.subarray(start, at), width, from: at })
    at += rows * width
  }
  return at === block.length && columns.length > 0 ? { rows, columns } : undefined
}

const widths: Readonly<Record<string, number>> = { UInt8: 1, UInt16: 2, UInt32: 4, UInt64: 8, IPv6: 16 }

function widthOf(type: string): number | undefined {
  if (Object.hasOwn(widths, type)) return widths[type]
  if (type.startsWith('Enum8(')) return 1
  if (type === 'DateTime' || type.startsWith('DateTime(')) return 4
  const fixed = /^FixedString\((\d+)\)$/.exec(type)?.[1]
  return fixed === undefined ? undefined : Number(fixed)
}

const haveSameColumns = (a: Layout, b: Layout): boolean =>
  a.columns.length === b.columns.length && a.columns.every(({ head }, at) => head.equals(b.columns[at]!.head))

function varint(value: number): Uint8Array {
  const octets: number[] = []
  let rest = value
  for (; rest >= 128; rest = Math.floor(rest / 128)) octets.push((rest % 128) | 128)
  return Uint8Array.from([...octets, rest])
}
