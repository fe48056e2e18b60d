// The VRP export of rpki-client and Routinator, from JSON to VRPs:
// `{"metadata": {...}, "roas": [{"asn": "AS64496" or 64496, "prefix": "192.0.2.0/24", "maxLength": 24, "ta": "ripe", "expires": 1700000000}]}`.
// Pure. One invalid record makes the whole export invalid: a partial export would make valid routes look invalid.
import { widthOf } from '../../net/bits.ts'
import { parsePrefix, prefixBits } from '../../net/prefix.ts'
import type { Prefix } from '../../net/prefix.ts'
import { PrefixError } from '../../net/prefix-error.ts'
import { createRoaTable } from '../../registry/objects/roa-table.ts'
import type { TrustAnchors } from '../../registry/objects/loss.ts'
import type { RoaTable } from '../../registry/objects/roa-table.ts'
import type { VrpBits } from '../../registry/objects/vrp.ts'
import { parseTime } from '../../text/time.ts'
import { readRoas } from './list.ts'

export type VrpExport = {
  readonly table: RoaTable
  readonly anchors: TrustAnchors
  /** The time of the export, according to its metadata. */
  readonly generated: Date | undefined
  /** The earliest expiry of its VRPs: the export must be parsed again after it. */
  readonly nextExpiry: Date | undefined
}

/** `seed`: see createRoaTable. */
export type ReadOptions = { readonly now: Date; readonly vrpsMax: number; readonly seed: number }

/** An invalid export. The message names the record. */
export class VrpExportError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'VrpExportError'
  }
}

/**
 * Parses an export without its expired VRPs. Throws VrpExportError. A generator: it yields every few hundred records, so that
 * the caller can return to the event loop.
 */
export function* readVrpExport(
  text: string,
  { now, vrpsMax, seed }: ReadOptions,
): Generator<void, VrpExport> {
  const table = createRoaTable([], seed)
  const reading = readRoas(text)
  const anchors = new Map<string, { count: number; readonly sample: VrpBits[] }>()
  let nextExpiry = Infinity
  let count = 0
  let step = readAsJson(() => reading.next())
  for (; !step.done; step = readAsJson(() => reading.next())) {
    for (const roa of step.value) {
      const { vrp, anchor, expires } = readRoa(roa, `roas[${count}]`)
      if (++count > vrpsMax) throw new VrpExportError(`more than ${vrpsMax} VRPs`)
      if (expires <= now.getTime()) continue
      // The same VRP often comes from several trust anchors.
      table.add(vrp)
      if (anchor !== undefined) addToSample(anchors, anchor, vrp)
      nextExpiry = Math.min(nextExpiry, expires)
    }
    yield
  }
  return {
    table,
    anchors: new Map([...anchors].map(([name, { sample }]) => [name, sample])),
    generated: generatedOf(metadataOf(step.value)),
    nextExpiry: nextExpiry === Infinity ? undefined : new Date(nextExpiry),
  }
}

const anchorsMax = 100

/** Keeps the first VRPs of a trust anchor, then 1 in 256: together at most a few thousand. */
function addToSample(
  anchors: Map<string, { count: number; readonly sample: VrpBits[] }>,
  name: string,
  vrp: VrpBits,
): void {
  const anchor = anchors.get(name) ?? { count: 0, sample: [] }
  if (anchor.count === 0 && anchors.size >= anchorsMax) return
  if (anchor.count < 16 || anchor.count % 256 === 0) anchor.sample.push(vrp)
  anchor.count++
  anchors.set(name, anchor)
}

function readAsJson<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new VrpExportError('it is not JSON', { cause: error })
  }
}

/** `rest` has an empty list in the place of the parsed one: a second list would be ambiguous. */
function metadataOf(rest: string): unknown {
  const document: unknown = readAsJson(() => JSON.parse(rest))
  const { roas, metadata } = isRecord(document) ? document : {}
  if (!Array.isArray(roas) || roas.length > 0) throw new VrpExportError('it has no list "roas", or two')
  return metadata
}

function readRoa(
  roa: unknown,
  place: string,
): { readonly vrp: VrpBits; readonly anchor: string | undefined; readonly expires: number } {
  if (!isRecord(roa)) throw new VrpExportError(`${place} is not an object`)
  const asn = readAsn(roa['asn'])
  if (asn === undefined) throw new VrpExportError(`${place}.asn is not an AS number`)
  const bits = prefixBits(readPrefix(roa['prefix'], place))
  const { maxLength = bits.length } = roa
  const width = widthOf(bits.family)
  if (!isInteger(maxLength) || maxLength < bits.length || maxLength > width)
    throw new VrpExportError(`${place}.maxLength is not from ${bits.length} to ${width}`)
  const { expires = Infinity } = roa
  if (typeof expires !== 'number') throw new VrpExportError(`${place}.expires is not a Unix time`)
  const { ta } = roa
  const anchor = typeof ta === 'string' ? ta : undefined
  return { vrp: { ...bits, maxLength, asn }, anchor, expires: expires * 1000 }
}

/** AS 0 is allowed: it authorizes no network to announce the prefix. */
function readAsn(value: unknown): number | undefined {
  const asn =
    typeof value === 'string' && /^(AS)?\d{1,10}$/i.test(value) ? Number(value.replace(/^AS/i, '')) : value
  return isInteger(asn) && asn >= 0 && asn < 2 ** 32 ? asn : undefined
}

function readPrefix(value: unknown, place: string): Prefix {
  if (typeof value !== 'string') throw new VrpExportError(`${place}.prefix is missing`)
  try {
    return parsePrefix(value)
  } catch (error) {
    if (!(error instanceof PrefixError)) throw error
    throw new VrpExportError(`${place}.prefix: ${error.message}`, { cause: error })
  }
}

/** Routinator writes Unix seconds, rpki-client a time as text. */
function generatedOf(metadata: unknown): Date | undefined {
  if (!isRecord(metadata)) return undefined
  const { generated, buildtime } = metadata
  if (typeof generated === 'number' && generated > 0 && generated < 2 ** 33) return new Date(generated * 1000)
  return typeof buildtime === 'string' ? parseTime(buildtime) : undefined
}

function isInteger(value: unknown): value is number {
  return Number.isInteger(value)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
