// PTR records by address: a batch over all zones of the team, templates, and the list of a network.
import type {
  deletePtrTemplateRoute,
  listPtrRecordsRoute,
  listPtrTemplatesRoute,
  PtrRecord,
  PtrTemplate,
  updatePtrRecordsRoute,
} from '@pharos/contract/dns/ptr'
import type { ProblemError } from '@pharos/contract/problem'
import type { BodyOf, QueryOf, ResponseOf } from '@pharos/contract/route'
import { auditOf, writeAudit } from '../../db/audit.ts'
import type { Db, Postgres, Trx } from '../../db/postgres.ts'
import { runOwnerChange, type ChangeAnswer } from '../../db/run-change.ts'
import { parseAddress, type Address } from '../../net/address.ts'
import type { DomainName } from '../../net/dns/name.ts'
import { recordType } from '../../net/dns/type.ts'
import { lengthOf, networkOf, parsePrefix, type Prefix } from '../../net/prefix.ts'
import { PrefixError } from '../../net/prefix-error.ts'
import { addressAt, findReverseNetwork } from '../../net/reverse-name.ts'
import { actorName, type Operation } from '../../operation/operation.ts'
import { requireMatch, etagOf } from '../../operation/etag.ts'
import { collect } from '../../runtime/collect.ts'
import { errorAt, failWith, invalid, notFound, parsePrefixAt, prefixErrorAt } from '../../runtime/error.ts'
import { changeZone } from '../zone/change-zone.ts'
import { requireNetwork } from '../zone/limit.ts'
import { parseNameAt, shownZoneName } from '../zone/zone-name.ts'
import { lockZone, readDefaults } from '../zone/zone.store.ts'
import { resolveSettings, withoutLimits } from '../zone/zone.ts'
import type { ForwardCheck } from './forward-check.ts'
import { createHolders, type Holders } from './holder.ts'
import {
  deleteTemplateRow,
  listGenerated,
  listReverseHoldings,
  listPtrRows,
  listTemplateRows,
  lockTemplate,
  saveTemplate,
  type PtrRow,
  type TemplateRow,
} from './reverse.store.ts'
import { rangesOf, type ReverseDeps } from './reverse-zone.ts'
import {
  countRecordAddresses,
  isFromTemplate,
  needsWildcard,
  parsePattern,
  wildcardOf,
  type TemplatePattern,
} from './template.ts'
import { writePtrs, type PtrOutcome, type PtrWish } from './write-ptr.ts'

export type PtrDeps = ReverseDeps & { readonly postgres: Postgres; readonly forward: ForwardCheck }
type Body = BodyOf<typeof updatePtrRecordsRoute>
type Result = ResponseOf<typeof updatePtrRecordsRoute>

type ReadTemplate = Required<Pick<NonNullable<Body['templates']>[number], 'overwrite'>> & {
  readonly network: Prefix
  readonly loc: ProblemError['loc']
  readonly ttl: number | null
  readonly text: string
  readonly pattern: TemplatePattern
}

/**
 * Writes all records or none. Runs in a transaction of the owner: addresses of small networks are in zones of the
 * operator.
 */
export async function updatePtrRecords(
  deps: PtrDeps,
  operation: Operation,
  body: Body,
): Promise<ChangeAnswer<Result>> {
  const { records = [], templates = [], check_forward: checkForward = false } = body
  if (records.length === 0 && templates.length === 0) throw invalid(['body', 'records'], 'ptrBatchEmpty')
  const wishes = readBatch(records)
  const patterns = readTemplates(templates)
  const { teamId } = operation.actor
  const forward = checkForward ? await checkNames(deps, teamId, wishes) : new Map<Address, boolean | null>()
  return runOwnerChange(deps.postgres.owner, operation, async (trx) => {
    const defaults = await readDefaults(trx)
    const holders = createHolders(teamId, await listReverseHoldings(trx, teamId))
    requireNetworks(holders, patterns)
    for (const { network, loc } of patterns) requireNetwork(operation.actor.limits, [...loc, 'cidr'], network)
    const rows: TemplateRow[] = []
    for (const one of patterns)
      rows.push(await saveTemplate(trx, teamId, { ...one, prefix: one.network, pattern: one.text }))
    const named = new Set(wishes.map(({ address }) => address))
    const generated = generate(patterns, named)
    const all = [...generated.map(({ wish }) => wish), ...wishes]
    const outcomes = await writePtrs(deps, trx, operation, holders, all, defaults, 'ptr.update')
    await noteTemplates(trx, operation, rows)
    const results = outcomes
      .slice(generated.length)
      .map((one) => present(one, forward.get(one.wish.address) ?? null))
    const counted = rows.map((row, at) =>
      countTemplate(
        row,
        outcomes.filter((_, place) => generated[place]?.template === at),
      ),
    )
    return { body: { results, count: results.length, templates: counted } }
  })
}

function readBatch(records: NonNullable<Body['records']>): PtrWish[] {
  const errors: ProblemError[] = []
  const seen = new Set<Address>()
  const wishes = records.flatMap(({ ip, ptrdname, ttl }, at): PtrWish[] => {
    const loc = ['body', 'records', at]
    const address = collect(errors, () => parseAddressAt([...loc, 'ip'], ip))
    const target =
      ptrdname === null ? null : collect(errors, () => parseTarget([...loc, 'ptrdname'], ptrdname))
    if (address === undefined || target === undefined) return []
    if (seen.has(address)) errors.push(errorAt([...loc, 'ip'], 'repeatedAddress', { ip: address }))
    seen.add(address)
    return [{ loc: [...loc, 'ip'], address, target, ttl: ttl ?? null, source: 'user' }]
  })
  if (errors.length > 0) throw failWith('invalid', errors)
  return wishes
}

function parseTarget(loc: ProblemError['loc'], text: string): DomainName {
  const name = parseNameAt(loc, text)
  if (name.indexOf('.') === name.length - 1) throw invalid(loc, 'domain')
  return name
}

function parseAddressAt(loc: ProblemError['loc'], text: string): Address {
  try {
    return parseAddress(text)
  } catch (error) {
    if (!(error instanceof PrefixError)) throw error
    throw failWith('invalid', [prefixErrorAt(loc, error)])
  }
}

function readTemplates(templates: NonNullable<Body['templates']>): ReadTemplate[] {
  const errors: ProblemError[] = []
  const seen = new Set<Prefix>()
  const read = templates.flatMap(
    ({ cidr, pattern: text, ttl, overwrite = 'generated' }, at): ReadTemplate[] => {
      const loc = ['body', 'templates', at]
      const network = collect(errors, () => parsePrefixAt([...loc, 'cidr'], cidr))
      const pattern = network && collect(errors, () => parsePattern([...loc, 'pattern'], text, network))
      if (network === undefined || pattern === undefined) return []
      if (seen.has(network)) errors.push(errorAt([...loc, 'cidr'], 'repeatedTemplate', { cidr: network }))
      seen.add(network)
      if (needsWildcard(network) && lengthOf(network) % 4 !== 0)
        errors.push(
          errorAt([...loc, 'cidr'], 'ptrPattern', {
            reason: 'the length of a wide IPv6 network is a multiple of 4',
          }),
        )
      return [{ network, loc, pattern, text, ttl: ttl ?? null, overwrite }]
    },
  )
  if (errors.length > 0) throw failWith('invalid', errors)
  return read
}

function requireNetworks(holders: Holders, templates: readonly ReadTemplate[]): void {
  const errors = templates.flatMap(({ network }, at) =>
    holders.findHoldingOf(network) === undefined
      ? [errorAt(['body', 'templates', at, 'cidr'], 'notYourAddress')]
      : [],
  )
  if (errors.length > 0) throw failWith('invalid', errors)
}

type Generated = { readonly wish: PtrWish; readonly template: number }

/** The records of templates, except for addresses that the request names itself. Of two templates the later one applies. */
function generate(templates: readonly ReadTemplate[], named: ReadonlySet<Address>): Generated[] {
  const wishes = new Map<string, Generated>()
  for (const [template, { network, pattern, ttl, overwrite }] of templates.entries()) {
    for (let place = 0; place < countRecordAddresses(network); place++) {
      const address = addressAt(network, place)
      if (named.has(address)) continue
      const name = needsWildcard(network) ? wildcardOf(network) : undefined
      const wish: PtrWish = {
        loc: ['body', 'templates', template, 'cidr'],
        address,
        ...(name === undefined ? {} : { name }),
        target: pattern.nameAt(place),
        ttl,
        source: 'generated',
        replaces: (stored) =>
          !stored || overwrite === 'always' || (overwrite === 'generated' && stored.source === 'generated'),
      }
      wishes.set(name ?? address, { wish, template })
    }
  }
  return [...wishes.values()]
}

function present(
  { wish, zone, previous, status }: PtrOutcome,
  forward: boolean | null,
): Result['results'][number] {
  return {
    ip: wish.address,
    ptrdname: wish.target,
    previous,
    status: status === 'kept' ? 'unchanged' : status,
    zone: shownZoneName(zone.name),
    forward_ok: forward,
  }
}

function countTemplate(row: TemplateRow, outcomes: readonly PtrOutcome[]): Result['templates'][number] {
  const count = (status: PtrOutcome['status']) => outcomes.filter((one) => one.status === status).length
  return {
    template: presentTemplate(row),
    created: count('created'),
    updated: count('updated'),
    unchanged: count('unchanged'),
    kept: count('kept'),
  }
}

/** Outside of the transaction, which would wait for name servers. */
async function checkNames(
  { postgres, forward }: PtrDeps,
  teamId: number,
  wishes: readonly PtrWish[],
): Promise<ReadonlyMap<Address, boolean | null>> {
  const claims = wishes.flatMap(({ address, target }) => (target === null ? [] : [{ name: target, address }]))
  const found = await forward.check(postgres.front, teamId, claims)
  return new Map(claims.map(({ address }, at) => [address, found[at] ?? null]))
}

async function noteTemplates(trx: Trx, operation: Operation, rows: readonly TemplateRow[]): Promise<void> {
  await writeAudit(
    trx,
    ...rows.map((row) => ({
      ...auditOf(operation),
      action: 'ptr_template.update',
      target: `ptr_template:${row.id}`,
      after: { cidr: row.prefix, pattern: row.pattern, overwrite: row.overwrite },
    })),
  )
}

function presentTemplate({ prefix, ...row }: TemplateRow): PtrTemplate {
  return {
    id: row.id,
    cidr: parsePrefix(prefix),
    pattern: row.pattern,
    ttl: row.ttl,
    overwrite: row.overwrite,
    created: row.created.toISOString(),
    touched: row.touched.toISOString(),
  }
}

/** Returns a page of the PTR records of a network of the team. Throws `invalid` for another one. */
export async function listPtrRecords(
  { postgres }: Pick<PtrDeps, 'postgres'>,
  { actor }: Operation,
  query: QueryOf<typeof listPtrRecordsRoute>,
): Promise<{ results: PtrRecord[]; count: number }> {
  const network = parsePrefixAt(['query', 'cidr'], query.cidr)
  requireNetwork(actor.limits, ['query', 'cidr'], network)
  const holders = createHolders(actor.teamId, await listReverseHoldings(postgres.front, actor.teamId))
  if (holders.findHoldingAround(network) === undefined) throw invalid(['query', 'cidr'], 'notYourAddress')
  const { page, count } = await listPtrRows(postgres.front, actor.teamId, rangesOf(network), query)
  return { results: page.flatMap(presentPtr), count }
}

/** Returns the names of one address in zones of the team and of the operator. */
export async function listPtrNames(db: Db, teamId: number, host: Prefix): Promise<string[]> {
  const { page } = await listPtrRows(db, teamId, rangesOf(host), { limit: 10, offset: 0 })
  return page.flatMap(({ content }) => content.split('\n'))
}

function presentPtr({ name, content, ttl, zone, source }: PtrRow): PtrRecord[] {
  const network = findReverseNetwork(name)
  if (network === undefined) return []
  return [
    { ip: networkOf(network), ptrdname: content.split('\n')[0]!, ttl, zone: shownZoneName(zone), source },
  ]
}

export async function listPtrTemplates(
  { postgres }: Pick<PtrDeps, 'postgres'>,
  { actor }: Operation,
  query: QueryOf<typeof listPtrTemplatesRoute>,
): Promise<{ results: PtrTemplate[]; count: number }> {
  const { page, count } = await listTemplateRows(postgres, actor.teamId, query, actor.limits)
  return { results: page.map(presentTemplate), count }
}

/**
 * Deletes a template and its records. Keeps records of other templates, and records of networks that the team no longer
 * has: their new holder may have written equal records to the zone of the operator.
 */
export function deletePtrTemplate(
  { postgres, now }: Omit<PtrDeps, 'forward'>,
  operation: Operation,
  id: number,
  _query?: QueryOf<typeof deletePtrTemplateRoute>,
): Promise<ChangeAnswer<null>> {
  const { teamId } = operation.actor
  return runOwnerChange(postgres.owner, operation, async (trx) => {
    const row = await lockTemplate(trx, teamId, id)
    if (!row) throw notFound('template')
    const before = presentTemplate(row)
    requireMatch(operation.ifMatch, etagOf(before))
    const defaults = await readDefaults(trx)
    const network = parsePrefix(row.prefix)
    const pattern = parsePattern(['template'], row.pattern, network)
    const holders = createHolders(teamId, await listReverseHoldings(trx, teamId))
    const written = (await listGenerated(trx, teamId, rangesOf(network))).filter(
      (set) => isFromTemplate(pattern, set) && isHeld(holders, set.name),
    )
    const zones = [...Map.groupBy(written, ({ zoneId }) => zoneId)].sort(([a], [b]) => a - b)
    for (const [zoneId, sets] of zones) {
      const zone =
        (await lockZone(trx, teamId, { id: zoneId })) ?? (await lockZone(trx, null, { id: zoneId }))
      const desired = sets.map(({ name }) => ({
        name,
        type: recordType.PTR,
        ttl: null,
        rdata: [],
        source: 'generated' as const,
        loc: [],
      }))
      await changeZone(trx, zone!, desired, {
        author: { actor: actorName(operation.actor), what: 'ptr_template.delete' },
        now: now(),
        settings: resolveSettings(zone!.settings, defaults),
        limits: withoutLimits,
      })
    }
    await deleteTemplateRow(trx, teamId, id)
    await writeAudit(trx, {
      ...auditOf(operation),
      action: 'ptr_template.delete',
      target: `ptr_template:${id}`,
      before: { cidr: before.cidr, pattern: before.pattern, overwrite: before.overwrite },
      after: null,
    })
    return { body: null, before }
  })
}

/** A wildcard is in a zone of the team. */
function isHeld(holders: Holders, name: DomainName): boolean {
  const host = findReverseNetwork(name)
  return host === undefined || holders.findHolding(networkOf(host)) !== undefined
}
