// Compiles the records of one template into a function with all offsets as constants: about five times as fast as
// reading them by table. The source text contains only names of this file and integers of the layout. If the process
// may not generate code, the records are read by `read-records.ts`; a test compares both on random templates.
import type { FlowColumns } from '../../flow/flow-columns.ts'
import { slot, type RecordLayout, type SlotName } from './elements.ts'
import { durationMaxMs, type RecordContext } from './read-records.ts'

/**
 * Appends `count` records from `at` on; `view` covers the same octets. Writes counters of skipped records into the
 * context.
 */
export type CompiledRecords = (
  octets: Uint8Array,
  view: DataView,
  at: number,
  count: number,
  context: RecordContext,
  columns: FlowColumns,
) => void

/** Compiled functions by their source: exporters of one model share them. Bounded, so that changing templates cannot fill the memory. */
const compiled = new Map<string, CompiledRecords>()
const compiledMax = 512

/** Returns the function for a layout; undefined if it has to be read by table. */
export function compileRecords(layout: RecordLayout): CompiledRecords | undefined {
  if (layout.isVariable || !layout.hasAddress || !layout.hasCounters || layout.isConnection) return undefined
  if ([slot.probability, slot.algorithm].some((index) => layout.places[index]! >= 0)) return undefined
  const source = sourceOf(layout)
  const known = compiled.get(source)
  if (known) return known
  if (compiled.size >= compiledMax) return undefined
  try {
    // oxlint-disable-next-line typescript/no-implied-eval -- the source consists of constants of this file and integers
    const made = new Function(
      'octets',
      'view',
      'at',
      'count',
      'context',
      'columns',
      source,
    ) as CompiledRecords
    compiled.set(source, made)
    return made
  } catch {
    // --disallow-code-generation-from-strings
    return undefined
  }
}

const columnNames =
  'time exporter inIf outIf src dst srcPort dstPort protocol tcpFlags dscp fragment srcAs dstAs bytesLo bytesHi packetsLo packetsHi samplingRate durationMs'

function sourceOf(layout: RecordLayout): string {
  const has = (name: SlotName): boolean => layout.places[slot[name]]! >= 0
  const at = (name: SlotName): number => layout.places[slot[name]]!
  const length = (name: SlotName): number => layout.lengths[slot[name]]!
  const low = (name: SlotName): string => (has(name) ? lowText(at(name), length(name)) : '0')
  const high = (name: SlotName): string => (has(name) ? highText(at(name), length(name)) : '0')
  const either = (a: SlotName, b: SlotName): string => (has(b) ? `(${low(a)} || ${low(b)})` : low(a))

  const hasReverse = has('octetsReverse') || has('packetsReverse')
  const lines: string[] = []
  lines.push(`const { ${columnNames.replaceAll(' ', ', ')} } = columns`)
  lines.push('const { exporter: exporterIndex, time: seconds, override, rate: setRate, lookup } = context')
  lines.push('let row = columns.length, skipped = 0')
  lines.push(`for (let i = 0; i < count; i++, at += ${layout.width}) {`)
  lines.push(
    `let bl = ${low('octets')}, bh = ${high('octets')}, pl = ${low('packets')}, ph = ${high('packets')}`,
  )
  if (has('octetsAlternate') || has('packetsAlternate')) {
    lines.push('if ((bl | bh | pl | ph) === 0) {')
    lines.push(`bl = ${low('octetsAlternate')}; bh = ${high('octetsAlternate')}`)
    lines.push(`pl = ${low('packetsAlternate')}; ph = ${high('packetsAlternate')} }`)
  }
  if (hasReverse) {
    lines.push(`const rbl = ${low('octetsReverse')}, rbh = ${high('octetsReverse')}`)
    lines.push(`const rpl = ${low('packetsReverse')}, rph = ${high('packetsReverse')}`)
    lines.push('const isReversed = (rbl | rbh | rpl | rph) !== 0')
  }
  lines.push(`if ((bl | bh | pl | ph) === 0${hasReverse ? ' && !isReversed' : ''}) { skipped++; continue }`)
  lines.push(`const inI = ${either('inIf', 'inIfPhysical')}, outI = ${either('outIf', 'outIfPhysical')}`)
  lines.push(
    `const prot = ${low('protocol')} & 255, sp = ${low('srcPort')}, sAs = ${low('srcAs')}, dAs = ${low('dstAs')}`,
  )
  lines.push(`let dp = ${low('dstPort')}`)
  for (const [protocol, both, type, code] of [
    [1, 'icmp4', 'icmpType4', 'icmpCode4'],
    [58, 'icmp6', 'icmpType6', 'icmpCode6'],
  ] as const) {
    if (has(both)) lines.push(`if (prot === ${protocol}) dp = (${low(both)} & 65535) || dp`)
    else if (has(type) || has(code)) {
      lines.push(`if (prot === ${protocol}) dp = (((${low(type)} & 255) << 8) | (${low(code)} & 255)) || dp`)
    }
  }
  lines.push(`const ds = ${has('dscp') ? `${low('dscp')} & 63` : `(${low('tos')} & 255) >> 2`}`)
  lines.push(
    `const frag = ${fragmentText(low('fragmentOffset'), has('fragmentFlags') ? at('fragmentFlags') : -1)}`,
  )
  lines.push(`const smp = ${rateText(low, has)}`)
  lines.push(`let dur = ${durationText(low, has)}`, `if (dur > ${durationMaxMs}) dur = 0`)
  const words = addressText(has, low, at)
  lines.push(words.declarations)

  if (hasReverse) {
    lines.push(`if ((bl | bh | pl | ph) !== 0) {\n${rowText(false, low, words)}\n}`)
    lines.push(`if (isReversed) {\n${rowText(true, low, words)}\n}`)
  } else lines.push(rowText(false, low, words))
  lines.push('}', 'columns.length = row; context.withoutCounters += skipped')
  return lines.join('\n')
}

/** Writes the row of one direction of a record. */
function rowText(isReverse: boolean, low: (name: SlotName) => string, words: AddressText): string {
  const flags = isReverse
    ? `${low('tcpFlagsReverse')} | ${low('tcpFlagsInitialReverse')}`
    : `${low('tcpFlags')} | ${low('tcpFlagsInitial')}`
  const [from, to] = isReverse ? ['dst', 'src'] : ['src', 'dst']
  const counters = isReverse ? ['rbl', 'rbh', 'rpl', 'rph'] : ['bl', 'bh', 'pl', 'ph']
  const ports = isReverse
    ? 'if (prot === 1 || prot === 58) { srcPort[row] = sp; dstPort[row] = dp } else { srcPort[row] = dp; dstPort[row] = sp }'
    : 'srcPort[row] = sp; dstPort[row] = dp'
  return [
    'time[row] = seconds; exporter[row] = exporterIndex',
    isReverse ? 'inIf[row] = outI; outIf[row] = inI' : 'inIf[row] = inI; outIf[row] = outI',
    isReverse ? 'srcAs[row] = dAs; dstAs[row] = sAs' : 'srcAs[row] = sAs; dstAs[row] = dAs',
    `{ const w = row * 4; ${words.write(from, 's')}; ${words.write(to, 'd')} }`,
    ports,
    `protocol[row] = prot; tcpFlags[row] = ${flags}; dscp[row] = ds; fragment[row] = frag`,
    `bytesLo[row] = ${counters[0]}; bytesHi[row] = ${counters[1]}; packetsLo[row] = ${counters[2]}; packetsHi[row] = ${counters[3]}`,
    'samplingRate[row] = smp; durationMs[row] = dur; row++',
  ].join('\n')
}

function lowText(place: number, length: number): string {
  const at = length > 4 ? place + length - 4 : place
  switch (length > 4 ? 4 : length) {
    case 1:
      return `octets[at + ${at}]`
    case 2:
      return `view.getUint16(at + ${at})`
    case 3:
      return `((octets[at + ${at}] << 16) | view.getUint16(at + ${at + 1}))`
    default:
      return `view.getUint32(at + ${at})`
  }
}

function highText(place: number, length: number): string {
  return length > 4 ? lowText(place, length - 4) : '0'
}

function fragmentText(offset: string, flags: number): string {
  const more = flags < 0 ? 'false' : `(octets[at + ${flags}] & 32) !== 0`
  return `(${offset} !== 0 || ${more}) ? 1 : 0`
}

/** The sampling rate of a row, in the order of `read-records.ts`. */
function rateText(low: (name: SlotName) => string, has: (name: SlotName) => boolean): string {
  const common = `(setRate >= 0 ? setRate : lookup(${low('sampler')}, inI))`
  const found: string[] = []
  if (has('size')) found.push(`(${low('size')} > 0 ? Math.round(${low('population')} / ${low('size')}) : 0)`)
  if (has('interval') && has('space')) {
    const [interval, space] = [low('interval'), low('space')]
    found.push(
      `(${interval} > 0 ? Math.min(4294967295, Math.round((${interval} + ${space}) / ${interval})) : 0)`,
    )
  }
  if (has('rate')) found.push(low('rate'))
  if (has('interval')) found.push(low('interval'))
  return `override > 0 ? override : (${[...found, common].join(' || ')})`
}

/** Like `durationOf` of `read-records.ts`. */
function durationText(low: (name: SlotName) => string, has: (name: SlotName) => boolean): string {
  let difference = '0'
  if (has('startMs') && has('endMs')) difference = `((${low('endMs')} - ${low('startMs')}) >>> 0)`
  else if (has('startSeconds') && has('endSeconds')) {
    difference = `((${low('endSeconds')} - ${low('startSeconds')}) >>> 0) * 1000`
  }
  return has('duration') ? `${low('duration')} || ${difference}` : difference
}

type AddressText = {
  readonly declarations: string
  readonly write: (column: string, side: 's' | 'd') => string
}

function addressText(
  has: (name: SlotName) => boolean,
  low: (name: SlotName) => string,
  at: (name: SlotName) => number,
): AddressText {
  const has4 = has('src4') || has('dst4')
  const has6 = has('src6') || has('dst6')
  const names = { s: ['src4', 'src6'], d: ['dst4', 'dst6'] } as const
  const four = (column: string, side: 's' | 'd') =>
    `${column}[w] = 0; ${column}[w + 1] = 0; ${column}[w + 2] = 65535; ${column}[w + 3] = ${low(names[side][0])}`
  const six = (column: string, side: 's' | 'd') => {
    const name = names[side][1]
    const word = (i: number) => (has(name) ? `view.getUint32(at + ${at(name) + i * 4})` : '0')
    return [0, 1, 2, 3].map((i) => `${column}[w + ${i}] = ${word(i)}`).join('; ')
  }
  if (!has6) return { declarations: '', write: four }
  if (!has4) return { declarations: '', write: six }
  const version = has('ipVersion') ? low('ipVersion') : '0'
  return {
    declarations: `const ver = ${version}, isSix = ver === 6 || (ver !== 4 && (${low('src4')} | ${low('dst4')}) === 0)`,
    write: (column, side) => `if (isSix) { ${six(column, side)} } else { ${four(column, side)} }`,
  }
}
