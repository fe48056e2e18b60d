// Settings of a zone: rules, read and replace. Only values set by the team are stored; the rest are the provider's
// defaults.
import { isDeepStrictEqual } from 'node:util'
import type { ZoneSettings, ZoneSettingsUpdate } from '@pharos/contract/dns/settings'
import type { ProblemError } from '@pharos/contract/problem'
import { auditOf, writeAudit } from '../../db/audit.ts'
import type { Postgres, Trx } from '../../db/postgres.ts'
import { runChange, type ChangeAnswer } from '../../db/run-change.ts'
import { wake } from '../../db/wake.ts'
import { recordType } from '../../net/dns/type.ts'
import { parsePrefixOrAddress } from '../../net/prefix.ts'
import { PrefixError } from '../../net/prefix-error.ts'
import { etagOf, requireMatch } from '../../operation/etag.ts'
import { actorName, type Operation } from '../../operation/operation.ts'
import { errorAt, Failure, failWith, prefixErrorAt } from '../../runtime/error.ts'
import { changeZone } from '../zone/change-zone.ts'
import type { ZoneDeps } from '../zone/create-zone.ts'
import { besideOthers, type OtherZone } from '../zone/delegate-zone.ts'
import { getZoneOf, lockZoneOf } from '../zone/find-zone.ts'
import { readServer, type ServerRules } from '../zone/server-of-team.ts'
import { parseNameAt } from '../zone/zone-name.ts'
import { listTsigKeyIds, readDefaults, readDefaultsInTeam } from '../zone/zone.store.ts'
import { managedSets, resolveSettings, withoutLimits, type DnsDefaults, type Zone } from '../zone/zone.ts'
import { saveZoneSettings } from './settings.store.ts'

export type SettingsDeps = Pick<ZoneDeps, 'postgres' | 'serverRules' | 'now'>

/** Returns all settings with their values, and the ETag of the stored values. */
export async function getZoneSettings(
  { postgres }: Pick<SettingsDeps, 'postgres'>,
  { actor }: Operation,
  text: string,
): Promise<{ body: ZoneSettings; etag: string }> {
  const [zone, defaults] = await Promise.all([
    getZoneOf(postgres, actor.teamId, text),
    readDefaultsInTeam(postgres, actor.teamId),
  ])
  const body = resolveSettings(zone.settings, defaults)
  return { body, etag: etagOf(zone.settingsVersion, body) }
}

/** Replaces the settings; a missing setting is reset to its default. SOA and NS records follow, as a new version. */
export async function updateZoneSettings(
  { postgres, serverRules, now }: SettingsDeps,
  operation: Operation,
  text: string,
  given: ZoneSettingsUpdate,
): Promise<ChangeAnswer<ZoneSettings>> {
  const { teamId } = operation.actor
  const settings = readSettings(given, serverRules)
  await requireTsigKeys(postgres, teamId, settings)
  return runChange(postgres, operation, async (trx) => {
    const zone = await lockZoneOf(trx, teamId, text)
    requireMatch(operation.ifMatch, etagOf(zone.settingsVersion))
    const defaults = await readDefaults(trx)
    const { before, after, isChanged } = await replaceSettings(trx, operation, zone, settings, defaults)
    const settingsVersion = zone.settingsVersion + (isChanged ? 1 : 0)
    let others: readonly OtherZone[] = []
    if (isChanged) {
      const sets = zone.kind === 'primary' ? managedSets(zone.name, after) : []
      // The NS records belong to the team while it may edit them, until it names other servers.
      const isOwn =
        after.apex_ns_editable && JSON.stringify(before.nameservers) === JSON.stringify(after.nameservers)
      const desired = sets
        .filter(({ type }) => type !== recordType.NS || !isOwn)
        .map((set) => ({ ...set, loc: ['body'] }))
      const changed = await changeZone(trx, zone, desired, {
        author: { actor: actorName(operation.actor), what: 'zone.settings' },
        now: now(),
        settings: after,
        limits: withoutLimits,
      })
      others = changed.others
      await wake(trx, 'dns')
    }
    return { body: after, before, ...besideOthers(others), etag: etagOf(settingsVersion, after) }
  })
}

type Replaced = {
  readonly before: ZoneSettings
  readonly after: ZoneSettings
  readonly isChanged: boolean
}

/** Stores the settings of a locked zone, with the audit entry. The records that follow from them are left to the caller. Throws `invalid`. */
export async function replaceSettings(
  trx: Trx,
  operation: Operation,
  zone: Zone,
  settings: ZoneSettingsUpdate,
  defaults: DnsDefaults,
): Promise<Replaced> {
  const before = resolveSettings(zone.settings, defaults)
  const after = resolveSettings(settings, defaults)
  requireConsistent(after, before, defaults)
  const isChanged = !isDeepStrictEqual(zone.settings, settings)
  if (isChanged) {
    await saveZoneSettings(trx, zone, settings)
    const target = `zone:${zone.id}`
    await writeAudit(trx, { ...auditOf(operation), action: 'zone.settings', target, before, after })
  }
  return { before, after, isChanged }
}

/** Returns the settings with names, addresses and networks in canonical form. Throws `invalid` with all errors. Pure. */
function readSettings(given: ZoneSettingsUpdate, rules: ServerRules): ZoneSettingsUpdate {
  const errors: ProblemError[] = []
  const each = <Value>(
    field: string,
    values: readonly Value[],
    read: (value: Value, loc: (string | number)[]) => Value,
  ) => values.map((value, at) => attempt(errors, value, () => read(value, ['body', field, at])))
  const { soa, nameservers, also_notify: notify, allow_transfer: networks } = given
  const settings: ZoneSettingsUpdate = {
    ...given,
    ...(soa ? { soa: readSoa(soa, errors) } : {}),
    ...(nameservers
      ? { nameservers: each('nameservers', nameservers, (text, loc) => parseNameAt(loc, text)) }
      : {}),
    ...(notify
      ? {
          also_notify: each('also_notify', notify, (server, loc) => readServer(loc, server, rules)),
        }
      : {}),
    ...(networks
      ? { allow_transfer: each('allow_transfer', networks, (text, loc) => parseNetwork(loc, text)) }
      : {}),
  }
  if (errors.length > 0) throw failWith('invalid', errors)
  return settings
}

type Soa = NonNullable<ZoneSettingsUpdate['soa']>

const readSoa = (soa: Soa, errors: ProblemError[]): Soa => {
  const { rname } = soa
  if (rname === undefined) return soa
  return { ...soa, rname: attempt(errors, rname, () => parseMailbox(['body', 'soa', 'rname'], rname)) }
}

/** A mailbox as a name (RFC 1035 section 8): dots before the first label's end are escaped. Throws `invalid`, also for an e-mail address. */
function parseMailbox(loc: ProblemError['loc'], text: string): string {
  const [local, domain] = text.split('@')
  if (domain === undefined) return parseNameAt(loc, text)
  const suggestion = `${local!.replaceAll('.', '\\.')}.${domain.replace(/\.$/, '')}.`
  throw failWith('invalid', [errorAt(loc, 'mailboxName', { suggestion })])
}

/** An address stays one; a network has its canonical form. */
function parseNetwork(loc: ProblemError['loc'], text: string): string {
  try {
    const prefix = parsePrefixOrAddress(text)
    return text.includes('/') ? prefix : prefix.slice(0, prefix.indexOf('/'))
  } catch (error) {
    if (!(error instanceof PrefixError)) throw error
    throw failWith('invalid', [prefixErrorAt(loc, error)])
  }
}

function attempt<Value>(errors: ProblemError[], fallback: Value, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'invalid') throw error
    errors.push(...error.errors!)
    return fallback
  }
}

/** Rules over several settings, with defaults in place. */
function requireConsistent(after: ZoneSettings, before: ZoneSettings, defaults: DnsDefaults): void {
  const errors: ProblemError[] = []
  if (after.soa.retry >= after.soa.refresh) errors.push(errorAt(['body', 'soa', 'retry'], 'retryRange'))
  if (after.minimum_ttl > after.default_ttl) errors.push(errorAt(['body', 'minimum_ttl'], 'minimumTtlRange'))
  if (after.apex_ns_editable && !before.apex_ns_editable && !defaults.isApexNsEditable)
    errors.push(errorAt(['body', 'apex_ns_editable'], 'apexNsPermission'))
  if (errors.length > 0) throw failWith('invalid', errors)
}

async function requireTsigKeys(
  postgres: Postgres,
  teamId: number,
  settings: ZoneSettingsUpdate,
): Promise<void> {
  const ids = settings.tsig_key_ids ?? []
  if (ids.length === 0) return
  const known = await listTsigKeyIds(postgres.front, teamId, ids)
  const errors = ids.flatMap((id, at) =>
    known.has(id) ? [] : [errorAt(['body', 'tsig_key_ids', at], 'tsigKeyId')],
  )
  if (errors.length > 0) throw failWith('invalid', errors)
}
