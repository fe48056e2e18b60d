// What waits for the provider's staff, as the API lists it: one operation for the inbox, the counts beside entries, and customers. The inbox adds the
// items of paused changes of routes.
import { getApprovalRoute, listApprovalsRoute, type Approval } from '@pharos/contract/operator/approval'
import { listInboxRoute, type InboxEntry } from '@pharos/contract/operator/inbox'
import type { ApprovalAreaName } from '@pharos/contract/reason/approval-reason'
import { listFormerRoutersRoute, type FormerRouter } from '@pharos/contract/byoip/former-router'
import { listAsnsOfTeamsRoute, type AsnOfTeam } from '@pharos/contract/inventory/asn'
import { listLettersToReviewRoute, type ReviewedLetter } from '@pharos/contract/byoip/letter'
import { listStaffCrossConnectsRoute, type StaffCrossConnect } from '@pharos/contract/inventory/cross-connect'
import type { StaffBill } from '@pharos/contract/operator/bill'
import type { Restore } from '@pharos/contract/operator/restore'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { answerOf, invalidate } from '../api/queries.ts'
import { requestsOf, type ChangeRequest } from './requests.ts'

type Row = Pick<InboxEntry, 'key' | 'since' | 'team'>

export type InboxRow = Row &
  (
    | { readonly kind: 'routes'; readonly request: ChangeRequest }
    | { readonly kind: ApprovalAreaName; readonly approval: Approval }
    | { readonly kind: 'letter'; readonly letter: ReviewedLetter }
    | { readonly kind: 'asn'; readonly claim: AsnOfTeam }
    | { readonly kind: 'cross_connect'; readonly connect: StaffCrossConnect }
    | { readonly kind: 'bill'; readonly bills: readonly StaffBill[] }
    | { readonly kind: 'former_router'; readonly router: FormerRouter }
    | { readonly kind: 'restore'; readonly restore: Restore }
  )

export type Inbox = {
  /** Undefined until everything is loaded, or if a part of it could not be read. */
  readonly rows: readonly InboxRow[] | undefined
  /** The rows that could be read in spite of errors. */
  readonly known: readonly InboxRow[]
  readonly error: unknown
  /** Number of all entries; undefined until it is known. */
  readonly count: number | undefined
  readonly retry: () => Promise<unknown>
}

const refetchInterval = 10_000
const most = 1000
/** The frame reads the count, the overview the entries: one request for both. */
const summaryRows = 6

/** Reads the count and the longest waiting entries. `enabled`: false for users without the grant; no request is sent. */
export const useInboxSummary = (enabled = true) =>
  useQuery({ ...answerOf(listInboxRoute, { query: { limit: summaryRows } }), enabled, refetchInterval })

/** Reads all entries. */
export const useInboxEntries = (enabled = true) =>
  useQuery({ ...answerOf(listInboxRoute, { query: { limit: most } }), enabled, refetchInterval })

/** Reads all entries, and the items of paused changes of routes. */
export function useInbox(): Inbox {
  const inbox = useInboxEntries()
  const hasRoutes = inbox.data?.results.some(({ kind }) => kind === 'routes') ?? false
  const approvals = useQuery({
    ...answerOf(listApprovalsRoute, {
      query: { state: ['open'], area: ['routes'], include: 'items', limit: most },
    }),
    enabled: hasRoutes,
    refetchInterval,
  })
  const known = useMemo(
    () => rowsOf(inbox.data?.results ?? [], approvals.data?.results ?? []),
    [inbox.data, approvals.data],
  )
  const isComplete = inbox.data !== undefined && (!hasRoutes || approvals.data !== undefined)
  return {
    rows: isComplete ? known : undefined,
    known,
    error: inbox.error ?? approvals.error,
    count: inbox.data?.count,
    retry: refreshInbox,
  }
}

/** Reads again what waits, and the lists of pages that show the same. */
export const refreshInbox = (): Promise<unknown> =>
  invalidate(
    listInboxRoute,
    listApprovalsRoute,
    getApprovalRoute,
    listLettersToReviewRoute,
    listAsnsOfTeamsRoute,
    listStaffCrossConnectsRoute,
    listFormerRoutersRoute,
  )

/** Returns a row for each entry. A request whose items are not read yet has none. */
function rowsOf(entries: readonly InboxEntry[], approvals: readonly Approval[]): readonly InboxRow[] {
  const requests = new Map(requestsOf(approvals).map((request) => [request.key, request]))
  return entries.flatMap((entry) => rowOf(entry, requests.get(entry.key)) ?? [])
}

/** Returns the row of an entry; undefined for a request without its items. */
export function rowOf(entry: InboxEntry, request: ChangeRequest | undefined): InboxRow | undefined {
  const { kind, key, since, team, approvals, letter, asn, cross_connect, bills, former_router, restore } =
    entry
  const row = { key, since, team }
  if (kind === 'routes') return request && { ...row, kind, request }
  if (kind === 'letter') return letter && { ...row, kind, letter }
  if (kind === 'asn') return asn && { ...row, kind, claim: asn }
  if (kind === 'cross_connect') return cross_connect && { ...row, kind, connect: cross_connect }
  if (kind === 'bill') return bills && { ...row, kind, bills }
  if (kind === 'former_router') return former_router && { ...row, kind, router: former_router }
  if (kind === 'restore') return restore && { ...row, kind, restore }
  return approvals[0] && { ...row, kind, approval: approvals[0] }
}

/** The most decisions that are listed. */
const decidedMax = 200

/** Reads the last decisions about approvals, newest first. `enabled`: if false, no request is sent. */
export function useDecided(enabled: boolean) {
  const { data, error, refetch } = useQuery({
    ...answerOf(listApprovalsRoute, {
      query: { state: ['approved', 'rejected', 'closed'], limit: decidedMax },
    }),
    enabled,
    refetchInterval,
  })
  const rows = useMemo(() => data?.results.map(decidedRow), [data])
  return { rows, error, retry: refetch }
}

const decidedRow = (approval: Approval): InboxRow => ({
  kind: approval.area,
  key: approvalKey(approval.id),
  since: approval.decided ?? approval.created,
  team: approval.team,
  approval,
})

const approvalKey = (id: number): string => `approval-${id}`

/** Whether the row has the key, or is the request of an approval about routes that has it. */
export const isRow = (row: InboxRow, key: string): boolean =>
  row.key === key || ('request' in row && row.request.approvals.some(({ id }) => approvalKey(id) === key))
