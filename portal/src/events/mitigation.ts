// The mitigation of an attack as far as it is known: by the team's own rules, which Pharos observes at the scrubbers, and by the report of the
// detector. Pure.
import type { RelatedEventDetail } from '@pharos/contract/events/event'

type Event = Pick<RelatedEventDetail, 'status' | 'parsed_data' | 'marks'>

export type Mitigation = {
  readonly state: 'active' | 'ended' | 'unknown'
  /** Sources in this state, and the start of the uninterrupted time if it is known. */
  readonly by: readonly { readonly source: 'rules' | 'detector'; readonly since: string | undefined }[]
  /** The part of the attack that the team's rules drop now, of octets or packets, whichever is more; null if unmeasured. */
  readonly share: number | null
  /** The detector's. */
  readonly actions: readonly string[]
}

export function mitigationOf({
  status,
  parsed_data: { timeline = [], mitigation },
  marks = [],
}: Event): Mitigation {
  const actions = mitigation?.actions ?? []
  const isActive = status.includes('MITIGATION_ACTIVE')
  if (!isActive && !status.includes('MITIGATION_ENDED'))
    return { state: 'unknown', by: [], share: null, actions }
  const mark = marks.find((one) => one.mark === (isActive ? 'MITIGATION_ACTIVE' : 'MITIGATION_ENDED'))
  const [signal, other] = isActive
    ? (['mitigation_active', 'mitigation_ended'] as const)
    : (['mitigation_ended', 'mitigation_active'] as const)
  const after = timeline.findLastIndex(({ signals }) => signals.includes(other)) + 1
  const since = timeline.slice(after).find(({ signals }) => signals.includes(signal))?.at
  const isReported = mark === undefined || since !== undefined
  return {
    state: isActive ? 'active' : 'ended',
    by: [
      ...(mark ? [{ source: 'rules' as const, since: mark.since }] : []),
      ...(isReported ? [{ source: 'detector' as const, since }] : []),
    ],
    share: isActive ? largestOf(mark) : null,
    actions,
  }
}

type Mark = NonNullable<Event['marks']>[number]

function largestOf(mark: Mark | undefined): number | null {
  const shares = [mark?.share_bytes, mark?.share_packets].filter((share) => share != null)
  return shares.length === 0 ? null : Math.max(...shares)
}
