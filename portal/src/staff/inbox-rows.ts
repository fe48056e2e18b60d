// The decisions that wait for the provider's staff: approvals (routes grouped by request), letters to review, and ASNs that only staff can verify.
import { getApprovalRoute, listApprovalsRoute, type Approval } from '@pharos/contract/operator/approval'
import type { ApprovalAreaName } from '@pharos/contract/reason/approval-reason'
import { listAsnsOfTeamsRoute, type AsnOfTeam } from '@pharos/contract/inventory/asn'
import { listLettersToReviewRoute, type ReviewedLetter } from '@pharos/contract/byoip/letter'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { answerOf, invalidate } from '../api/queries.ts'
import { requestsOf, type ChangeRequest } from './requests.ts'

export type InboxRow =
  | { readonly kind: 'routes'; readonly key: string; readonly since: string; readonly request: ChangeRequest }
  | {
      readonly kind: ApprovalAreaName
      readonly key: string
      readonly since: string
      readonly approval: Approval
    }
  | { readonly kind: 'letter'; readonly key: string; readonly since: string; readonly letter: ReviewedLetter }
  | { readonly kind: 'asn'; readonly key: string; readonly since: string; readonly claim: AsnOfTeam }

export type Inbox = {
  /** Undefined until everything is loaded, or if a part of it could not be read. */
  readonly rows: readonly InboxRow[] | undefined
  /** The rows that could be read in spite of errors. */
  readonly known: readonly InboxRow[]
  readonly error: unknown
  readonly lettersWaiting: number
  readonly lettersShown: number
  readonly retry: () => Promise<unknown>
}

const refetchInterval = 10_000
const most = 1000

/** Reads all pending decisions. `enabled`: false for users who are not staff; no request is sent. */
export function useInbox(enabled = true): Inbox {
  const poll = { enabled, refetchInterval }
  const approvals = useQuery({
    ...answerOf(listApprovalsRoute, { query: { state: ['open'], include: 'items', limit: most } }),
    ...poll,
  })
  const letters = useQuery({
    ...answerOf(listLettersToReviewRoute, { query: { status: ['pending_review'], limit: most } }),
    ...poll,
  })
  const asns = useQuery({
    ...answerOf(listAsnsOfTeamsRoute, { query: { verified: false, limit: most } }),
    enabled,
    refetchInterval: 60_000,
  })
  const known = useMemo(
    () => rowsOf(approvals.data?.results ?? [], letters.data?.results ?? [], asns.data?.results ?? []),
    [approvals.data, letters.data, asns.data],
  )
  const answers = [approvals, letters, asns]
  const isComplete = answers.every(({ data }) => data !== undefined)
  return {
    rows: isComplete ? known : undefined,
    known,
    error: answers.find(({ error }) => error)?.error,
    lettersWaiting: letters.data?.count ?? 0,
    lettersShown: letters.data?.results.length ?? 0,
    retry: refreshInbox,
  }
}

export const refreshInbox = (): Promise<unknown> =>
  invalidate(listApprovalsRoute, getApprovalRoute, listLettersToReviewRoute, listAsnsOfTeamsRoute)

/** Returns the rows, longest waiting first. */
function rowsOf(
  approvals: readonly Approval[],
  letters: readonly ReviewedLetter[],
  asns: readonly AsnOfTeam[],
): readonly InboxRow[] {
  return [
    ...requestsOf(approvals.filter(({ area }) => area === 'routes')).map((request): InboxRow => ({
      kind: 'routes',
      key: request.key,
      since: request.paused,
      request,
    })),
    ...approvals.filter(({ area }) => area !== 'routes').map((one) => approvalRow(one, one.created)),
    ...letters.map((letter): InboxRow => ({
      kind: 'letter',
      key: `letter-${letter.id}`,
      since: letter.uploaded,
      letter,
    })),
    ...asnClaimsOf(asns).map(({ claim, since }): InboxRow => ({
      kind: 'asn',
      key: `asn-${claim.asn}-${claim.team.id}`,
      since,
      claim,
    })),
  ].toSorted((a, b) => a.since.localeCompare(b.since) || a.key.localeCompare(b.key))
}

const approvalRow = (approval: Approval, since: string): InboxRow => ({
  kind: approval.area,
  key: approvalKey(approval.id),
  since,
  approval,
})

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
  const rows = useMemo(() => data?.results.map((one) => approvalRow(one, one.decided ?? one.created)), [data])
  return { rows, error, retry: refetch }
}

const approvalKey = (id: number): string => `approval-${id}`

/** Whether the row has the key, or is the request of an approval about routes that has it. */
export const isRow = (row: InboxRow, key: string): boolean =>
  row.key === key || ('request' in row && row.request.approvals.some(({ id }) => approvalKey(id) === key))

/** Returns the claims with the time of their first valid proof. */
const asnClaimsOf = (
  asns: readonly AsnOfTeam[],
): readonly { readonly claim: AsnOfTeam; readonly since: string }[] =>
  asns.flatMap((claim) => {
    const valid = claim.evidence.filter(({ state }) => state === 'valid').map(({ checked }) => checked)
    const isOpen = claim.verified === null && claim.revoked === null && valid.length > 0
    return isOpen ? [{ claim, since: valid.toSorted()[0]! }] : []
  })
