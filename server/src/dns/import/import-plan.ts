// Plans an import of the records of a file or a transfer: applied records, and skipped ones with reasons. Pure.
import {
  ignoredReasons,
  importWarnings,
  type IgnoredReason,
  type ImportMode,
  type ImportResult,
  type ImportWarning,
} from '@pharos/contract/dns/import'
import type { ZoneSettings } from '@pharos/contract/dns/settings'
import { isAtOrBelow, type ZoneName } from '../../net/dns/name.ts'
import { printRdata } from '../../net/dns/rdata/rdata.ts'
import { recordClass, recordType, typeName } from '../../net/dns/type.ts'
import { checkZone, collectSets, type ZoneFinding } from '../zone-file/check-zone.ts'
import { managedType } from '../zone/recordset.ts'
import { isAtCut } from '../zone/delegation-sets.ts'
import type { PlacedDesired } from '../zone/change-content.ts'
import { setId, type StoredSet } from '../zone/zone-change.ts'

/** A record with its line; 0 for a record of a transfer. */
export type ImportedRecord = {
  readonly name: Parameters<typeof isAtOrBelow>[0]
  readonly type: number
  readonly class?: number
  readonly ttl: number
  readonly rdata: Uint8Array
  readonly line: number
}

type Ignored = ImportResult['ignored'][number]

export type ReadImport = {
  readonly sets: readonly PlacedDesired[]
  readonly ignored: readonly Ignored[]
  readonly warnings: ImportResult['warnings']
  /** Of the SOA record at the apex; null without an SOA record. */
  readonly serial: number | null
}

type Context = {
  readonly zone: ZoneName
  readonly settings: Pick<ZoneSettings, 'apex_ns_editable' | 'multi_signer'>
  /** Zones below of the same owner: Pharos delegates to them. */
  readonly children: readonly ZoneName[]
  /** Lower TTLs are raised to this one. */
  readonly ttlFloor: number
}

/** Splits the records into sets to apply and skipped records, each with the reason. */
export function readImport(records: Iterable<ImportedRecord>, context: Context): ReadImport {
  const ignored: Ignored[] = []
  const kept: ImportedRecord[] = []
  let serial: number | null = null
  for (const record of records) {
    if (record.type === recordType.SOA && record.name === context.zone) serial = serialOf(record.rdata)
    const reason = reasonToIgnore(record, context)
    if (reason) ignored.push(ignoredOf(record, reason))
    else kept.push({ ...record, ttl: Math.max(record.ttl, context.ttlFloor) })
  }
  const { sets, findings } = collectSets(kept)
  const duplicates = findings.filter(({ code }) => code === 'duplicate').map(duplicateOf)
  const noted = [...findings, ...checkZone(context.zone, sets)]
  return {
    warnings: noted.flatMap(warningOf),
    sets: sets.map(({ line = 0, ...set }) => ({ ...set, source: 'user', loc: ['body', 'zonefile', line] })),
    ignored: [...ignored, ...duplicates].sort((a, b) => a.line - b.line),
    serial,
  }
}

/** The serial is the first of five numbers at the end (RFC 1035 section 3.3.13). */
const serialOf = (rdata: Uint8Array): number =>
  new DataView(rdata.buffer, rdata.byteOffset, rdata.length).getUint32(rdata.length - 20)

function reasonToIgnore(
  record: ImportedRecord,
  { zone, settings, children }: Context,
): IgnoredReason | undefined {
  const { name, type } = record
  if ((record.class ?? recordClass.IN) !== recordClass.IN) return 'class'
  if (!isAtOrBelow(name, zone)) return 'out_of_zone'
  if (type === recordType.SOA && name === zone) return 'soa'
  if (type === recordType.SOA) return undefined
  if (isAtCut(record) && children.includes(name as ZoneName)) return 'child_zone'
  if (managedType(type, name, zone, settings)) return type === recordType.NS ? 'apex_ns' : 'dnssec'
  return undefined
}

const ignoredOf = ({ name, type, ttl, rdata, line }: ImportedRecord, reason: IgnoredReason): Ignored => ({
  line,
  reason,
  message: ignoredReasons[reason],
  text: `${name} ${ttl} IN ${typeName(type)} ${printRdata(type, rdata)}`,
})

const duplicateOf = ({ name, type, line = 0 }: ZoneFinding): Ignored => ({
  line,
  reason: 'duplicate',
  message: ignoredReasons.duplicate,
  text: `${name} ${typeName(type)}`,
})

const isWarning = (code: string): code is ImportWarning =>
  (importWarnings as readonly string[]).includes(code)

const warningOf = ({ code, name, type, line = 0, message }: ZoneFinding): ImportResult['warnings'] =>
  isWarning(code) ? [{ line, code, message, text: `${name} ${typeName(type)}` }] : []

/**
 * Returns the desired sets of the mode. With `replace` this includes deletions of stored sets that the import lacks,
 * except sets managed by Pharos, sets at and below zones of the same owner, and the NS records of the zone itself,
 * which a file may omit.
 */
export function desiredOf(
  mode: ImportMode,
  stored: readonly StoredSet[],
  sets: readonly PlacedDesired[],
  context: Pick<Context, 'zone' | 'settings' | 'children'>,
): PlacedDesired[] {
  if (mode !== 'replace') return [...sets]
  const ids = new Set(sets.map(setId))
  const gone = stored.filter(
    (set) =>
      !ids.has(setId(set)) &&
      !managedType(set.type, set.name, context.zone, context.settings) &&
      !context.children.some((child) => isAtOrBelow(set.name, child)) &&
      !(set.type === recordType.NS && set.name === context.zone),
  )
  return [
    ...sets,
    ...gone.map((set): PlacedDesired => ({ ...set, rdata: [], source: 'user', loc: ['body'] })),
  ]
}
