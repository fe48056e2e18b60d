// The next step in a region that is not in the desired state, and who can take it: a text for each reason. Pure.
import type { RegionStateOfAnnouncement } from '@pharos/contract/byoip'
import type { RegionReason } from '@pharos/contract/region-reason'

type Seen = Pick<RegionStateOfAnnouncement, 'state' | 'desired' | 'reason'>

const advice: Record<RegionReason, string> = {
  not_shown: 'The route is sent again automatically.',
  damped: 'Nothing to do: the route is announced automatically at that time.',
  no_neighbor: 'Only your provider can restore the BGP session.',
  router_unreadable:
    'The router is read again automatically. Contact your provider if this lasts for minutes.',
  refused:
    'The route is sent again automatically. Only your provider can see why it is rejected: contact them.',
  withdrawal_refused: 'The withdrawal is sent again automatically. Contact your provider.',
  withdrawal_held: 'Your provider has to approve it. Contact them if it is urgent.',
  withdrawal_rejected: 'Contact your provider. Enabling and disabling the announcement asks them again.',
  withdrawal_sent:
    'The withdrawal is sent again automatically. Contact your provider if this lasts for minutes.',
  change_held: 'Your provider has to approve it. Nothing changes until then.',
  invalid_row: 'Only your provider can fix this: contact them.',
}

/** Returns undefined if the region is in the desired state. */
export function nextStep({ state, desired, reason }: Seen): string | undefined {
  if (reason !== null) return advice[reason]
  if (state === (desired ? 'announced' : 'withdrawn')) return undefined
  return 'The router is checked again automatically, and this row is updated.'
}
