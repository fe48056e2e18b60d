// The inbox of the provider's staff: every state that waits for the provider, from the lists of the domains, which say what waits. It decides
// nothing.
import type { Approval } from '@pharos/contract/operator/approval'
import {
  routeRequestKey,
  unlistedRequestKey,
  type InboxEntry,
  type InboxKind,
  type listInboxRoute,
} from '@pharos/contract/operator/inbox'
import type { QueryOf } from '@pharos/contract/route'
import { listApprovals, type ApprovalDeps } from '../approval/approval.ts'
import { listForReview } from '../byoip/letter/review-letter.ts'
import { readFormerRouters } from '../byoip/regions/former-router.ts'
import type { AttachmentDeps } from '../inventory/attachment/attachment.ts'
import { listStaffBills } from '../inventory/bill/staff-bill.ts'
import { listStaffCrossConnects } from '../inventory/cross-connect/move-cross-connect.ts'
import { listAllAsns } from '../inventory/holding/asn-decision.ts'
import { listRestores } from '../restore/restore.ts'
import { listTeamNames } from './status.store.ts'

export type InboxDeps = ApprovalDeps & AttachmentDeps

const pageRows = 1000

/** Reads all pages of a list of a domain. */
async function readAll<T>(
  read: (slice: { limit: number; offset: number }) => Promise<{ results: readonly T[]; count: number }>,
): Promise<T[]> {
  const all: T[] = []
  for (;;) {
    const { results, count } = await read({ limit: pageRows, offset: all.length })
    all.push(...results)
    if (results.length === 0 || all.length >= count) return all
  }
}

/** Returns a page of everything that waits for the provider. */
export async function listInbox(
  deps: InboxDeps,
  _operation: unknown,
  { kind, team_id: teams, ordering, limit, offset }: QueryOf<typeof listInboxRoute>,
): Promise<{ results: InboxEntry[]; count: number }> {
  const entries = (await readInbox(deps, kind)).filter(
    ({ team }) => !teams || (team !== null && teams.includes(team.id)),
  )
  const ordered = ordering.split(',').at(0)!.startsWith('-') ? entries.toReversed() : entries
  return { results: ordered.slice(offset, offset + limit), count: entries.length }
}

/** Counts the entries of each team. */
export async function countInboxByTeam(deps: InboxDeps): Promise<ReadonlyMap<number, number>> {
  const entries = (await readInbox(deps)).flatMap(({ team }) => (team ? [team.id] : []))
  return new Map(
    Array.from(
      Map.groupBy(entries, (id) => id),
      ([id, own]) => [id, own.length],
    ),
  )
}

type Read = (deps: InboxDeps) => Promise<InboxEntry[]>

/** The entries of the given kinds, or of all; the longest waiting first. */
async function readInbox(deps: InboxDeps, kinds?: readonly InboxKind[]): Promise<InboxEntry[]> {
  const reads = new Set(
    Object.entries(sources).flatMap(([kind, read]) => (isAsked(kind, kinds) ? [read] : [])),
  )
  const entries = await Promise.all([...reads].map((read) => read(deps)))
  return entries
    .flat()
    .filter(({ kind }) => isAsked(kind, kinds))
    .toSorted((a, b) => a.since.localeCompare(b.since) || a.key.localeCompare(b.key))
}

const isAsked = (kind: string, kinds: readonly string[] | undefined): boolean =>
  !kinds || kinds.includes(kind)

const readApprovals: Read = async (deps) => {
  const query = { state: ['open' as const], include: 'items', ordering: 'id' }
  const results = await readAll((slice) => listApprovals(deps, undefined, { ...query, ...slice }))
  return [
    ...routeEntries(results.filter(({ area }) => area === 'routes')),
    ...results
      .filter(({ area }) => area !== 'routes')
      .map((approval) => ({
        kind: approval.area,
        key: `approval-${approval.id}`,
        since: approval.created,
        team: approval.team,
        approvals: [withoutItems(approval)],
      })),
  ]
}

/** One entry for each person and team with paused changes, over all regions. */
function routeEntries(approvals: readonly Approval[]): InboxEntry[] {
  const changes = approvals.flatMap((approval) =>
    approval.items!.length === 0
      ? [{ approval, team: null, key: unlistedRequestKey }]
      : approval.items!.map((item) => ({ approval, team: item.team, key: routeRequestKey(item) })),
  )
  return Array.from(
    Map.groupBy(changes, ({ key }) => key),
    ([key, own]) => {
      const regions = [...new Set(own.map(({ approval }) => approval))]
      return {
        kind: 'routes',
        key,
        since: regions.map(({ created }) => created).toSorted()[0]!,
        team: own[0]!.team,
        approvals: regions.map(withoutItems),
      }
    },
  )
}

const withoutItems = ({ items: _items, ...approval }: Approval): Approval => approval

const readLetters: Read = async (deps) => {
  const query = { status: ['pending_review' as const], ordering: 'id' }
  const results = await readAll((slice) => listForReview(deps, undefined, { ...query, ...slice }))
  return results.map((letter) => ({
    ...entryOf('letter', letter.id, letter.uploaded, letter.team),
    letter,
  }))
}

/** An ASN that a proof supports, and that only staff can verify; it waits since the first valid proof. */
const readAsns: Read = async (deps) => {
  const query = { verified: false, ordering: 'asn' }
  const results = await readAll((slice) => listAllAsns(deps, undefined, { ...query, ...slice }))
  return results.flatMap((asn) => {
    const valid = asn.evidence.filter(({ state }) => state === 'valid').map(({ checked }) => checked)
    if (asn.verified !== null || asn.revoked !== null || valid.length === 0) return []
    return [{ ...entryOf('asn', `${asn.asn}-${asn.team.id}`, valid.toSorted()[0]!, asn.team), asn }]
  })
}

const readCrossConnects: Read = async (deps) => {
  const query = { waits_for: ['provider' as const], ordering: 'id' }
  const results = await readAll((slice) => listStaffCrossConnects(deps, undefined, { ...query, ...slice }))
  return results.map((one) => ({
    ...entryOf('cross_connect', one.id, one.waiting_since ?? one.requested, one.team),
    cross_connect: one,
  }))
}

/** One entry for each team, since its first bill was closed. */
const readBills: Read = async (deps) => {
  const query = { needs_decision: true, ordering: 'period,service' }
  const results = await readAll((slice) => listStaffBills(deps, undefined, { ...query, ...slice }))
  const teams = Map.groupBy(results, ({ team_id: id }) => id)
  const names = await listTeamNames(deps.db, [...teams.keys()])
  return Array.from(teams, ([id, bills]) => {
    const name = names.get(id)
    const since = bills.map(({ closed, period_end: end }) => closed ?? end).toSorted()[0]!
    return { ...entryOf('bill', id, since, name === undefined ? null : { id, name }), bills }
  })
}

/** Former routers that the loops cannot empty: staff repair them or give them up. */
const readFormers: Read = async ({ db }) =>
  (await readFormerRouters(db)).flatMap((router) =>
    router.error === null
      ? []
      : [{ ...entryOf('former_router', router.id, router.since, null), former_router: router }],
  )

const readRestores: Read = async (deps) => {
  const query = { state: ['open' as const], ordering: 'id' }
  const results = await readAll((slice) => listRestores(deps, undefined, { ...query, ...slice }))
  return results.map((restore) => ({ ...entryOf('restore', restore.id, restore.detected, null), restore }))
}

const sources: Readonly<Record<InboxKind, Read>> = {
  routes: readApprovals,
  dns: readApprovals,
  shield: readApprovals,
  platform: readApprovals,
  letter: readLetters,
  asn: readAsns,
  cross_connect: readCrossConnects,
  bill: readBills,
  former_router: readFormers,
  restore: readRestores,
}

const entryOf = (
  kind: InboxKind,
  id: number | string,
  since: string,
  team: InboxEntry['team'],
): InboxEntry => ({ kind, key: `${kind}-${id}`, since, team, approvals: [] })
