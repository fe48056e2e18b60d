// Services that teams have bought.
import {
  billingDirections,
  billingMethods,
  billingScopes,
  billingTierModes,
  type BillingPrices,
} from '@pharos/contract/inventory/billing-rules'
import { serviceStates, serviceTypes } from '@pharos/contract/inventory/service'
import { sql } from 'kysely'
import { Type, type Static } from 'typebox'
import type { Trx } from '../../db/postgres.ts'
import { keepFormerTerms } from '../../inventory/bill/bill.store.ts'
import { isTimezone } from '../../text/time.ts'
import { defineKind } from '../engine/define-kind.ts'
import { column, reference, referenceById, selected } from '../engine/field.ts'
import type { CheckContext } from '../engine/kind.ts'
import type { Path } from '../engine/problem.ts'
import { AsnNumber, Name, Optional, Pattern, ShortSlug, Strict, TeamSlug, Text } from '../engine/schema.ts'
import { insertRows, updateRow } from '../engine/table.store.ts'
import { locationKind } from './location.ts'
import { teamKind } from './team.ts'

const BitRate = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  expects: 'bits per second as a whole number, such as 1000000000',
})
const Day = Pattern('^[0-9]{4}-[0-9]{2}-[0-9]{2}$', { expects: 'a date such as 2026-01-31' })

const Octets = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  expects: 'bytes as a whole number, such as 10000000000000',
})
const Price = Pattern('^(0|[1-9][0-9]{0,8})(\\.[0-9]{1,8})?$', {
  expects: 'a decimal number in quotes with at most 8 decimals, such as "0.45"',
})
const Prices = Strict({
  currency: Pattern('^[A-Z]{3}$', { expects: 'a currency of three capital letters, such as EUR' }),
  decimals: Optional(Type.Integer({ minimum: 0, maximum: 4, expects: 'a whole number from 0 to 4' })),
  monthly: Optional(Price),
  commit: Optional(Price),
  overage: Optional(Price),
  tiers: Optional(
    Type.Array(
      Strict({
        above: Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          expects: 'bits per second, or bytes, as a whole number',
        }),
        price: Price,
      }),
      { minItems: 1, maxItems: 50, expects: 'a list of 1 to 50 tiers' },
    ),
  ),
  tier_mode: Optional(Type.Enum([...billingTierModes], { expects: `one of ${billingTierModes.join(', ')}` })),
})

/** With all fields, as the API returns them. */
const pricesOf = (prices: Static<typeof Prices>): BillingPrices => ({
  currency: prices.currency,
  decimals: prices.decimals ?? 2,
  monthly: prices.monthly ?? null,
  commit: prices.commit ?? null,
  overage: prices.overage ?? null,
  tiers: prices.tiers ?? [],
  tier_mode: prices.tier_mode ?? 'graduated',
})

const billingTerms = [
  'commit_bps',
  'billing_method',
  'billing_direction',
  'billing_scope',
  'billing_commit_scope',
  'billing_timezone',
  'billing_day',
  'billing_included_octets',
  'billing_prices',
  'billing_pool',
] as const

export const serviceKind = defineKind({
  name: 'service',
  plural: 'services',
  section: 'services',
  element: Strict({
    team: TeamSlug,
    name: Name,
    type: Type.Enum([...serviceTypes], { expects: `one of ${serviceTypes.join(', ')}` }),
    state: Optional(Type.Enum([...serviceStates], { expects: `one of ${serviceStates.join(', ')}` })),
    location: Optional(ShortSlug),
    commit_bps: Optional(BitRate),
    burst_bps: Optional(BitRate),
    start_date: Optional(Day),
    end_date: Optional(Day),
    external_ref: Optional(Text),
    billing_ref: Optional(Text),
    billing_method: Optional(
      Type.Enum([...billingMethods], { expects: `one of ${billingMethods.join(', ')}` }),
    ),
    billing_direction: Optional(
      Type.Enum([...billingDirections], { expects: `one of ${billingDirections.join(', ')}` }),
    ),
    billing_scope: Optional(Type.Enum([...billingScopes], { expects: `one of ${billingScopes.join(', ')}` })),
    billing_commit_scope: Optional(
      Type.Enum([...billingScopes], { expects: `one of ${billingScopes.join(', ')}` }),
    ),
    billing_timezone: Optional(Name),
    billing_day: Optional(Type.Integer({ minimum: 1, maximum: 28, expects: 'a day from 1 to 28' })),
    billing_included_octets: Optional(Octets),
    billing_prices: Optional(Prices),
    billing_pool: Optional(Name),
    asn: Optional(AsnNumber),
  }),
  table: {
    name: 'services',
    id: 'id',
    key: sql`(select g.slug || ' ' || r.name from teams g where g.id = r.team_id)`,
    select: {
      billing_pool: sql`(select (select g.slug from teams g where g.id = p.team_id) || ' ' || p.name from services p
        where p.id = t.pool_id)`,
      is_unbilled: sql`exists (select from port_assignments a
        where a.service_id = t.id and not upper_inf(a.valid) and unbilled_time(a.service_id, a.valid) is not null)`,
    },
  },
  stateOf: ({ is_unbilled: isUnbilled, billing_pool: pool }) => ({
    inUse: isUnbilled === true ? 'a month in which it had ports is not closed yet' : null,
    alsoRefersTo: pool === null ? [] : [`service ${String(pool)}`],
  }),
  identity: ['team', 'name'],
  fields: {
    team: referenceById('services', 'team_id', teamKind),
    name: column('services', 'name'),
    type: column('services', 'type', { isShown: true }),
    state: column('services', 'state', { initial: 'production', isShown: true }),
    location: reference('services', 'location_key', locationKind, { initial: null }),
    commit_bps: column('services', 'commit_bps', { initial: null }),
    burst_bps: column('services', 'burst_bps', { initial: null }),
    start_date: column('services', 'start_date', { initial: null }),
    end_date: column('services', 'end_date', { initial: null }),
    external_ref: column('services', 'external_ref', { initial: '' }),
    billing_ref: column('services', 'billing_ref', { initial: '' }),
    billing_method: column('services', 'billing_method', { initial: 'flat', isShown: true }),
    billing_direction: column('services', 'billing_direction', { initial: 'max' }),
    billing_scope: column('services', 'billing_scope', { initial: 'port' }),
    billing_commit_scope: column('services', 'billing_commit_scope', { initial: 'service' }),
    billing_timezone: column('services', 'billing_timezone', { initial: 'UTC' }),
    billing_day: column('services', 'billing_day', { initial: 1 }),
    billing_included_octets: column('services', 'billing_included_octets', { initial: null }),
    billing_prices: column('services', 'billing_prices', { initial: null }),
    billing_pool: selected<string | null>('billing_pool', { initial: null }),
    asn: column('services', 'asn', { initial: null }),
    managed_by: column('services', 'managed_by', { initial: 'platform', isShared: true }),
  },
  elementOf: ({ billing_pool: pool, ...rest }) => ({ ...rest, billing_pool: nameIn(pool) }),
  imported: { cleared: ['commit_bps', 'start_date', 'end_date', 'external_ref'], kept: ['type', 'state'] },
  /** Services may exchange their names in a source that has ids for them. */
  async prepare(trx, changes): Promise<void> {
    const renamed = changes.flatMap((change) =>
      change.kind === 'service' && change.action === 'update' && change.fields['name'] !== undefined
        ? [Number(change.row.id)]
        : [],
    )
    if (renamed.length > 0)
      await sql`update services set name = chr(1) || id where id = any(${renamed})`.execute(trx)
  },
  /** The pool of a new service may be a new one, too. */
  async create(trx, created, now): Promise<void> {
    await insertRows(trx, serviceKind, created, now)
    for (const { key, fields } of created) if (fields.billing_pool !== null) await setPool(trx, key, fields)
  },
  /** Bills of the time before are made by the former terms. */
  async update(trx, change, now): Promise<void> {
    if (billingTerms.some((name) => change.fields[name] !== undefined))
      await keepFormerTerms(trx, change.row.id as number)
    await updateRow(trx, serviceKind, change, now)
    if (change.fields.billing_pool !== undefined) await setPool(trx, change.key, change.fields)
  },
  check(context, elements): void {
    for (const { path, element } of elements) {
      checkDay(context, [...path, 'start_date'], element.start_date)
      checkDay(context, [...path, 'end_date'], element.end_date)
      const { commit_bps, burst_bps, start_date, end_date } = element
      if (burst_bps !== undefined && (commit_bps ?? 0) > burst_bps)
        context.problem([...path, 'burst_bps'], 'must not be less than commit_bps')
      if (element.billing_timezone !== undefined && !isTimezone(element.billing_timezone))
        context.problem(
          [...path, 'billing_timezone'],
          'must be the IANA name of a time zone, such as Europe/Amsterdam',
        )
      if (end_date !== undefined && start_date !== undefined && end_date < start_date)
        context.problem([...path, 'end_date'], 'must not be before start_date')
      const { billing_prices: prices, billing_pool: pool, ...given } = element
      checkPrices(context, [...path, 'billing_prices'], prices)
      const isVolume = element.billing_method === 'volume'
      if (element.billing_included_octets !== undefined && !isVolume)
        context.problem([...path, 'billing_included_octets'], 'needs billing_method: volume')
      context.add(serviceKind, path, {
        ...given,
        ...(prices && { billing_prices: pricesOf(prices) }),
        ...(pool !== undefined && { billing_pool: `${element.team} ${pool}` }),
      })
    }
    for (const { path, element } of elements) checkPool(context, [...path, 'billing_pool'], element)
  },
})

/** Returns the name of a service from its key; keys begin with the slug of the team, which has no space. */
export const nameIn = (key: string | null): string | null => key && key.slice(key.indexOf(' ') + 1)

/** `key`: of the service. Only services refer to pools: deleting the last reference deletes the pool. */
async function setPool(
  trx: Trx,
  key: string,
  { billing_pool: pool }: { readonly billing_pool?: string | null },
): Promise<void> {
  await sql`
    update services s set pool_id = (
      select p.id from services p where p.team_id = s.team_id and (select g.slug from teams g where g.id = p.team_id) || ' ' || p.name = ${pool})
    from teams t where t.id = s.team_id and t.slug || ' ' || s.name = ${key}`.execute(trx)
}

type Pooled = { readonly team: string; readonly name: string; readonly billing_pool?: string | undefined }

/** A service with a pool cannot be the pool of others: each port has one bill. */
function checkPool(
  context: CheckContext,
  path: Path,
  { team: slug, name, billing_pool: pool }: Pooled,
): void {
  if (pool === undefined) return
  const key = `${slug} ${pool}`
  const [entries, rows] = [context.entries(serviceKind), context.rows(serviceKind)]
  const poolOf = (of: string): string | null =>
    (entries.has(of) ? entries.get(of)?.fields : rows.get(of)?.fields)?.billing_pool ?? null
  const members = [...entries.keys(), ...rows.keys()].filter((of) => poolOf(of) === `${slug} ${name}`)
  if (pool === name) context.problem(path, 'must be another service')
  else if (!context.exists(serviceKind, key))
    context.problem(path, `there is no service ${pool} of team ${slug}`)
  else if (poolOf(key) !== null) context.problem(path, `${pool} is billed by another service itself`)
  else if (members.length > 0)
    context.problem(path, `${name} is the pool of ${members[0]}: it cannot be in another one`)
}

/** Tiers begin at 0, and their prices apply to all traffic below and above the commit. */
function checkPrices(context: CheckContext, path: Path, prices: Static<typeof Prices> | undefined): void {
  if (!prices) return
  const { tiers, commit, overage, tier_mode: mode } = prices
  if (!tiers) {
    if (mode !== undefined) context.problem([...path, 'tier_mode'], 'needs tiers')
    return
  }
  if (commit !== undefined || overage !== undefined)
    context.problem([...path, 'tiers'], 'must not be beside commit or overage')
  if (tiers[0]!.above !== 0) context.problem([...path, 'tiers', 0, 'above'], 'must be 0 in the first tier')
  for (const [at, { above }] of tiers.entries())
    if (at > 0 && above <= tiers[at - 1]!.above)
      context.problem([...path, 'tiers', at, 'above'], 'must be greater than that of the tier before')
}

/** Date parsing turns a day that does not exist, such as 2026-02-30, into another day or an invalid date. */
function checkDay(context: CheckContext, path: Path, text: string | undefined): void {
  if (text === undefined) return
  const time = new Date(`${text}T00:00:00Z`)
  if (Number.isNaN(time.getTime()) || time.toISOString().slice(0, 10) !== text)
    context.problem(path, `there is no day ${text}`)
}
