// Explains why an announcement is not as desired, and who can act. Computed from its checks and regions for each
// response. Pure. The sentences are in contract/src/reason/state-message.ts.
import type { StateMessage } from '@pharos/contract/reason/state-message'
import { stateMessageText, type StateMessageTag } from '@pharos/contract/reason/state-message'
import { isDesired, type Announcement } from '../status/announcement.ts'
import { isFailing, type Check, type Checks } from '../validation/validation.ts'
import type { ShownVisibility } from '../visibility/present-visibility.ts'

const day = 86_400_000
/** Days before the end of a letter or a proof at which its team is warned. */
const warnDays = 30

/** Returns the messages of an announcement, errors first. */
export function stateMessages(
  announcement: Announcement,
  checks: Checks,
  { visibility, now }: { readonly visibility: ShownVisibility | null; readonly now: Date },
): StateMessage[] {
  const all = [
    ...suspension(announcement, now),
    ...(visibility ? ofVisibility(visibility, now) : []),
    ...Object.values(checks).flatMap((check) => [
      ...ofCheck(announcement, check, now),
      ...ending(check, now),
    ]),
    ...ofRegions(announcement, now),
  ]
  const gravity = { error: 0, warning: 1, info: 2 }
  return all.toSorted((a, b) => gravity[a.severity] - gravity[b.severity])
}

function message(
  severity: StateMessage['severity'],
  tag: StateMessageTag,
  attrs: StateMessage['attrs'],
  at: Date,
): StateMessage {
  return { severity, tag, message: stateMessageText(tag, attrs), attrs, timestamp: at.toISOString() }
}

function suspension({ suspended, details }: Announcement, now: Date): StateMessage[] {
  const attrs = { by: details.suspended_by, reason: details.suspended_reason }
  return suspended ? [message('error', 'suspended', attrs, now)] : []
}

function ofVisibility(shown: ShownVisibility, now: Date): StateMessage[] {
  const { wire, zombie, unexpected, notVisible, otherPath } = shown
  const at = wire.checked === null ? now : new Date(wire.checked)
  return [
    ...(zombie ? [message('warning', 'zombie', zombie, at)] : []),
    ...(notVisible ? [message('error', 'not_visible', notVisible, at)] : []),
    ...(otherPath ? [message('warning', 'other_path', otherPath, at)] : []),
    ...(unexpected.length > 0 ? [message('warning', 'unexpected_origin', { routes: unexpected }, at)] : []),
  ]
}

function ofCheck({ claimed }: Announcement, check: Check, now: Date): StateMessage[] {
  const { name, state, reason, note } = check
  if (state === 'valid') return []
  const why = reason === null ? { reason, note } : { reason, attrs: check.attrs }
  const attrs = { validation: name, state, ...why }
  const at = check.checked ?? now
  if (isFailing(check) && claimed !== null) return [message('warning', 'validation_lost', attrs, at)]
  if (isFailing(check)) return [message('error', 'validation_failed', attrs, at)]
  return [message('info', waitingTags[state as keyof typeof waitingTags], attrs, at)]
}

/** For the states that isFailing() does not count. */
const waitingTags = {
  pending: 'validation_pending',
  missing: 'validation_missing',
  unavailable: 'validation_unavailable',
} as const

/** Returns a warning about a letter, or the verification of an ASN, that expires soon. */
function ending({ name, state, evidence }: Check, now: Date): StateMessage[] {
  const until = evidence['valid_until'] ?? evidence['expires']
  if (state !== 'valid' || typeof until !== 'string') return []
  const days = Math.ceil((new Date(until).getTime() - now.getTime()) / day)
  return days > warnDays ? [] : [message('warning', 'ends_soon', { validation: name, days, until }, now)]
}

function ofRegions(announcement: Announcement, now: Date): StateMessage[] {
  return announcement.regions.flatMap((region): StateMessage[] => {
    const desired = isDesired(announcement, region)
    if (region.state === (desired ? 'announced' : 'withdrawn')) return []
    const { slug, state, since, reason, isAssumed } = region
    const waits = now.getTime() - since.getTime() > 60_000
    const severity = state === 'error' ? 'error' : waits || isAssumed ? 'warning' : 'info'
    return [message(severity, `region_${state}`, { region: slug, desired, reason, ...region.attrs }, since)]
  })
}
