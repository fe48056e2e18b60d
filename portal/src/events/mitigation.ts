// What is known of an attack's mitigation: only what the detector has reported. Pure.
import type { RelatedEventDetail } from '@pharos/contract/analysis'

type Event = Pick<RelatedEventDetail, 'status' | 'parsed_data'>

export type Mitigation = {
  readonly state: 'active' | 'ended' | 'unknown'
  readonly since: string | undefined
  readonly actions: readonly string[]
}

/** Returns the state, and since when the detector has reported it without a break. */
export function mitigationOf({ status, parsed_data: { timeline = [], mitigation } }: Event): Mitigation {
  const actions = mitigation?.actions ?? []
  const isActive = status.includes('MITIGATION_ACTIVE')
  if (!isActive && !status.includes('MITIGATION_ENDED'))
    return { state: 'unknown', since: undefined, actions }
  const signal = isActive ? 'mitigation_active' : 'mitigation_ended'
  const other = isActive ? 'mitigation_ended' : 'mitigation_active'
  const after = timeline.findLastIndex(({ signals }) => signals.includes(other)) + 1
  const since = timeline.slice(after).find(({ signals }) => signals.includes(signal))?.at
  return { state: isActive ? 'active' : 'ended', since, actions }
}
