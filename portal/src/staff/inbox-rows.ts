// Requests that wait for the provider's staff: those with paused changes, held changes of DNS and shield rules, letters to review, and
// ASNs that only staff can verify.
import { getHoldRoute, listHoldsRoute, type HoldDetails } from '@pharos/contract/hold'
import { listAsnsOfTeamsRoute, type AsnOfTeam } from '@pharos/contract/inventory'
import { listLettersToReviewRoute, type ReviewedLetter } from '@pharos/contract/letter'
import { listShieldHoldsRoute, type ShieldHold } from '@pharos/contract/shield-hold'
import { listZoneHoldsRoute, type ZoneHold } from '@pharos/contract/zone-hold'
import { useQueries, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { answerOf, invalidate } from '../api/queries.ts'
import { requestsOf, type ChangeRequest } from './requests.ts'

export type InboxRow =
  | { readonly kind: 'change'; readonly key: string; readonly since: string; readonly request: ChangeRequest }
  | { readonly kind: 'letter'; readonly key: string; readonly since: string; readonly letter: ReviewedLetter }
  | { readonly kind: 'zone'; readonly key: string; readonly since: string; readonly hold: ZoneHold }
  | { readonly kind: 'shield'; readonly key: string; readonly since: string; readonly hold: ShieldHold }
  | { readonly kind: 'asn'; readonly key: string; readonly since: string; readonly claim: AsnOfTeam }

export type Inbox = {
  /** Undefined until everything is loaded, or if a part of it could not be read. */
  readonly rows: readonly InboxRow[] | undefined
  /** The rows that are known in spite of errors. */
  readonly known: readonly InboxRow[]
  readonly error: unknown
  readonly lettersWaiting: number
  readonly lettersShown: number
  readonly retry: () => Promise<unknown>
}

const refetchInterval = 10_000
const most = 1000

/** Reads everything that waits. `enabled`: false for users who are not staff, and nothing is requested. */
export function useInbox(enabled = true): Inbox {
  const poll = { enabled, refetchInterval }
  const holds = useQuery({
    ...answerOf(listHoldsRoute, { query: { state: ['open'], limit: most } }),
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
  const zones = useQuery({
    ...answerOf(listZoneHoldsRoute, { query: { state: ['open'], limit: most } }),
    ...poll,
  })
  const shields = useQuery({
    ...answerOf(listShieldHoldsRoute, { query: { state: ['open'], limit: most } }),
    ...poll,
  })
  const details = useQueries({
    queries: (holds.data?.results ?? []).map(({ id }) => ({
      ...answerOf(getHoldRoute, { params: { hold_id: id } }),
      ...poll,
    })),
    combine: (answers) => ({
      data: answers.flatMap(({ data }) => (data ? [data] : [])) as readonly HoldDetails[],
      isComplete: answers.every(({ data }) => data !== undefined),
      error: answers.find(({ data, error }) => !data && error)?.error,
    }),
  })
  const known = useMemo(
    () =>
      rowsOf(
        details.data,
        zones.data?.results ?? [],
        shields.data?.results ?? [],
        letters.data?.results ?? [],
        asns.data?.results ?? [],
      ),
    [details.data, zones.data, shields.data, letters.data, asns.data],
  )
  const answers = [holds, zones, shields, letters, asns]
  const isComplete = answers.every(({ data }) => data !== undefined) && details.isComplete
  return {
    rows: isComplete ? known : undefined,
    known,
    error: answers.find(({ error }) => error)?.error ?? details.error,
    lettersWaiting: letters.data?.count ?? 0,
    lettersShown: letters.data?.results.length ?? 0,
    retry: refreshInbox,
  }
}

export const refreshInbox = (): Promise<unknown> =>
  invalidate(
    listHoldsRoute,
    getHoldRoute,
    listZoneHoldsRoute,
    listShieldHoldsRoute,
    listLettersToReviewRoute,
    listAsnsOfTeamsRoute,
  )

/** Returns the rows, those that wait longest first. */
function rowsOf(
  holds: readonly HoldDetails[],
  zones: readonly ZoneHold[],
  shields: readonly ShieldHold[],
  letters: readonly ReviewedLetter[],
  asns: readonly AsnOfTeam[],
): readonly InboxRow[] {
  const open = holds.filter(({ state }) => state === 'open')
  return [
    ...requestsOf(open).map((request): InboxRow => ({
      kind: 'change',
      key: request.key,
      since: request.paused,
      request,
    })),
    ...zones.map((hold): InboxRow => ({
      kind: 'zone',
      key: `zone-${hold.id}`,
      since: hold.created,
      hold,
    })),
    ...shields.map((hold): InboxRow => ({
      kind: 'shield',
      key: `shield-${hold.id}`,
      since: hold.created,
      hold,
    })),
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

/** Returns the claims with the time of their first valid proof. */
const asnClaimsOf = (
  asns: readonly AsnOfTeam[],
): readonly { readonly claim: AsnOfTeam; readonly since: string }[] =>
  asns.flatMap((claim) => {
    const valid = claim.evidence.filter(({ state }) => state === 'valid').map(({ checked }) => checked)
    const isOpen = claim.verified === null && claim.revoked === null && valid.length > 0
    return isOpen ? [{ claim, since: valid.toSorted()[0]! }] : []
  })
