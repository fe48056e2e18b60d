// Imports a zone from the text of a zone file or from another primary: completely or not at all, with every skipped
// record. A file is parsed before the transaction.
import type { importZoneRoute, ImportResult } from '@pharos/contract/dns/import'
import type { ProblemError } from '@pharos/contract/problem'
import type { BodyOf } from '@pharos/contract/route'
import { auditOf, writeAudit } from '../../db/audit.ts'
import type { Trx } from '../../db/postgres.ts'
import { runPreparedChange, type ChangeAnswer, type ChangeResult } from '../../db/run-change.ts'
import type { ZoneName } from '../../net/dns/name.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { errorAt, fail, failWith, invalid, notFound } from '../../runtime/error.ts'
import { requireMatch, requireNoMatch } from '../../operation/etag.ts'
import { actorName, type Operation } from '../../operation/operation.ts'
import { changeZone } from '../zone/change-zone.ts'
import { insertNewZone, tsigKeyAt, type ZoneDeps } from '../zone/create-zone.ts'
import { presentOthers, type OtherZone } from '../zone/delegate-zone.ts'
import { requirePrimary } from '../zone/find-zone.ts'
import { requireZoneNamed, zoneLimitOf } from '../zone/limit.ts'
import { parseZoneInclude, presentDifference, presentZone, zoneEtag } from '../zone/present-zone.ts'
import { listChildZones } from '../zone/related-zone.store.ts'
import { readAllSets } from '../zone/zone-change.store.ts'
import { planDifference, type ZoneDifference } from '../zone/zone-change.ts'
import { lockZone, readDefaults, readShownZone } from '../zone/zone.store.ts'
import { readServer } from '../zone/server-of-team.ts'
import { parseZoneNameAt } from '../zone/zone-name.ts'
import { resolveSettings, type Zone } from '../zone/zone.ts'
import { parseZoneFileInSteps, zoneFileLimits } from '../zone-file/zone-file.ts'
import { desiredOf, readImport, type ImportedRecord, type ReadImport } from './import-plan.ts'
import type { TransferSource } from './transfer-source.ts'

export type ImportDeps = ZoneDeps & {
  /** Null: imports by AXFR are not available in this process. */
  readonly transferSource: TransferSource | null
}

type Body = BodyOf<typeof importZoneRoute>

/** Most warnings of one answer. */
const warningsMax = 1_000
/** A transfer takes as long as the other server does; a client waits no longer. */
const transferTimeoutMs = 20_000

export async function importZone(
  deps: ImportDeps,
  operation: Operation,
  body: Body,
): Promise<ChangeAnswer<ImportResult>> {
  const name = parseZoneNameAt(['body', 'name'], body.name)
  if ((body.zonefile === undefined) === (body.axfr === undefined))
    throw invalid(['body', 'zonefile'], 'zoneFileOrAxfr')
  requireZoneNamed(operation.actor.limits, ['body', 'name'], name)
  return runPreparedChange(
    deps.postgres,
    operation,
    () => readRecords(deps, operation.actor.teamId, name, body),
    (trx, source) => apply(deps, trx, operation, name, body, source),
  )
}

/** The records of a file or a transfer, and the warnings of the parser. */
type Source = { readonly records: readonly ImportedRecord[]; readonly warnings: ImportResult['warnings'] }

async function readRecords(
  { postgres, transferSource, serverRules }: ImportDeps,
  teamId: number,
  name: ZoneName,
  { zonefile, axfr }: Body,
): Promise<Source> {
  if (zonefile !== undefined) return readFile(name, zonefile)
  const { server, port: given, tsig } = axfr!
  if (transferSource === null) throw fail('unavailable', 'transferSource')
  const named = { address: server, ...(given === undefined ? {} : { port: given }) }
  const { address, port } = readServer(['body', 'axfr'], named, serverRules, 'server')
  const key =
    tsig === undefined
      ? {}
      : { tsigKeyId: await tsigKeyAt(postgres.front, teamId, ['body', 'axfr', 'tsig'], tsig) }
  try {
    const records = await transferSource.transfer({
      zone: name,
      address,
      port,
      ...key,
      recordsMax: zoneFileLimits.records,
      signal: AbortSignal.timeout(transferTimeoutMs),
    })
    return { records: records.map((record) => ({ ...record, line: 0 })), warnings: [] }
  } catch (error) {
    if (!(error instanceof DriverError)) throw error
    // Teams must not learn which ports are open: every server without a DNS answer gets the same error.
    const reason =
      error.kind === 'unreachable' ? `no name server answers at ${address}, port ${port}` : error.message
    throw invalid(['body', 'axfr', 'server'], 'zoneTransfer', { reason })
  }
}

/** Throws `invalid` with the line of every error. */
async function readFile(origin: ZoneName, text: string): Promise<Source> {
  const { records, problems, warnings } = await parseZoneFileInSteps(Buffer.from(text, 'utf8'), {
    origin,
    defaultTtl: 3600,
  })
  if (problems.length === 0)
    return { records, warnings: warnings.map((one) => ({ ...one, text: textOf(one.text) })) }
  const errors = problems.map(({ code, line, text: found, message, field }): ProblemError => {
    const ctx = {
      line,
      text: textOf(found),
      ...(field === undefined ? {} : { field }),
    }
    return { loc: ['body', 'zonefile', line], msg: `line ${line}: ${message}`, type: code, ctx }
  })
  throw failWith('invalid', errors)
}

/** The parser reads one character for each octet. */
const textOf = (octets: string): string => Buffer.from(octets, 'latin1').toString('utf8')

async function apply(
  deps: ImportDeps,
  trx: Trx,
  operation: Operation,
  name: ZoneName,
  body: Body,
  { records, warnings }: Source,
): Promise<ChangeResult<ImportResult>> {
  const { teamId } = operation.actor
  const existing = await lockZone(trx, teamId, { name })
  if (existing) zoneLimitOf(operation.actor.limits, existing)
  if (!existing && (body.mode !== 'create' || operation.actor.limits)) throw notFound('zone')
  if (!existing) requireNoMatch(operation.ifMatch)
  if (existing) requireMatch(operation.ifMatch, zoneEtag(existing))
  const defaults = await readDefaults(trx)
  const settings = resolveSettings(existing?.settings ?? {}, defaults)
  const below = await listChildZones(trx, { teamId, name })
  const children = below.map((child) => child.name)
  const context = { zone: name, settings, children, ttlFloor: body.ttl_floor ?? 0 }
  const read = readImport(records, context)
  if (read.sets.length === 0) throw failWith('invalid', [errorAt(['body', 'zonefile'], 'importEmpty')])
  const { zone, difference, others } = existing
    ? await importInto(deps, trx, operation, existing, read, body, children)
    : await importNew(deps, trx, operation, name, read, body)
  const shown = await readShownZone(trx, teamId, zone.id)
  const presented = presentZone(shown, defaults, parseZoneInclude())
  await writeAudit(trx, {
    ...auditOf(operation),
    action: 'zone.import',
    target: `zone:${zone.id}`,
    after: {
      name: presented.name,
      mode: body.mode,
      record_count: presented.record_count,
      ignored: read.ignored.length,
    },
  })
  return {
    body: {
      zone: presented,
      ...presentDifference(zone, difference),
      other_zones: presentOthers(others),
      ignored: [...read.ignored],
      warnings: [...warnings, ...read.warnings].sort((a, b) => a.line - b.line).slice(0, warningsMax),
      applied: !operation.dryRun,
    },
    etag: zoneEtag(shown, presented),
    ...(existing ? { status: 200 } : {}),
  }
}

type Imported = {
  readonly zone: Zone
  readonly difference: ZoneDifference
  readonly others: readonly OtherZone[]
}

async function importNew(
  deps: ImportDeps,
  trx: Trx,
  operation: Operation,
  name: ZoneName,
  { sets, serial }: ReadImport,
  { dnssec = true }: Body,
): Promise<Imported> {
  const { zone, others } = await insertNewZone(deps, trx, operation, {
    name,
    primaries: null,
    settings: {},
    serial,
    recordsets: [],
    sets,
    what: 'zone.import',
    signing: { dnssec },
  })
  const stored = await readAllSets(trx, zone.id)
  const added = stored.filter(({ source }) => source === 'user')
  return { zone, difference: { ...planDifference([], [], deps.now()), added }, others }
}

async function importInto(
  deps: ImportDeps,
  trx: Trx,
  operation: Operation,
  zone: Zone,
  { sets }: ReadImport,
  { mode }: Body,
  children: readonly ZoneName[],
): Promise<Imported> {
  if (mode === 'create') throw fail('exists', 'zone', { zone: zone.name.slice(0, -1) })
  requirePrimary(zone)
  const defaults = await readDefaults(trx)
  const settings = resolveSettings(zone.settings, defaults)
  const stored = mode === 'replace' ? await readAllSets(trx, zone.id) : []
  return changeZone(trx, zone, desiredOf(mode, stored, sets, { zone: zone.name, settings, children }), {
    author: { actor: actorName(operation.actor), what: 'zone.import' },
    now: deps.now(),
    // A file keeps its TTLs; ttl_floor raises them.
    settings: { ...settings, minimum_ttl: 0 },
    limits: defaults,
  })
}
