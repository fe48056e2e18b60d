// Why an announcement is not yet as wanted, and who can act: made from its checks and its regions whenever somebody asks.
// Pure; it stores nothing.
import type { StateMessage } from '@pharos/contract/announcement-checks'
import { regionReasonText } from '@pharos/contract/region-reason'
import { isDesired, type Announcement } from './announcement.ts'
import { isFailing, type Check, type Checks } from '../validation/validation.ts'

const day = 86_400_000
/** Days before the end of a letter or a proof at which its team is told. */
const warnDays = 30

/** The gravest first. `suspendedReason` is what the operator told the team. */
export function stateMessages(
  announcement: Announcement,
  checks: Checks,
  suspendedReason: string | null,
  now: Date,
): StateMessage[] {
  const all = [
    ...suspension(announcement, suspendedReason, now),
    ...Object.values(checks).flatMap((check) => [
      ...ofCheck(announcement, check, now),
      ...ending(check, now),
    ]),
    ...ofRegions(announcement, now),
  ]
  const gravity = { error: 0, warning: 1, info: 2 }
  return all.toSorted((a, b) => gravity[a.severity] - gravity[b.severity])
}

function suspension({ suspended }: Announcement, reason: string | null, now: Date): StateMessage[] {
  if (!suspended) return []
  const why =
    reason === 'validation'
      ? 'The provider suspended it because a check has failed for too long; it resumes when all checks pass.'
      : `The provider suspended it${reason ? `: ${reason}` : ''}. Ask them.`
  return [{ severity: 'error', tag: 'suspended', message: why, attrs: {}, timestamp: now.toISOString() }]
}

function ofCheck(announcement: Announcement, check: Check, now: Date): StateMessage[] {
  const { name, state, note } = check
  if (state === 'valid') return []
  const attrs = { validation: name, state }
  const timestamp = (check.checked ?? now).toISOString()
  if (isFailing(check) && announcement.claimed !== null) {
    const message = `A check that had passed fails now: ${note} What is announced stays announced.`
    return [{ severity: 'warning', tag: 'validation_lost', message, attrs, timestamp }]
  }
  if (isFailing(check))
    return [{ severity: 'error', tag: 'validation_failed', message: note, attrs, timestamp }]
  return [{ severity: 'info', tag: `validation_${state}`, message: note, attrs, timestamp }]
}

/** A letter, or the proof of an ASN, that ends soon. */
function ending({ name, state, evidence }: Check, now: Date): StateMessage[] {
  const text = evidence['valid_until'] ?? evidence['expires']
  if (state !== 'valid' || typeof text !== 'string') return []
  const days = Math.ceil((new Date(text).getTime() - now.getTime()) / day)
  if (days > warnDays) return []
  const what = name === 'loa' ? 'The letter of authorization' : 'The proof of the ASN'
  const message = `${what} ends in ${days} ${days === 1 ? 'day' : 'days'}; renew it.`
  const attrs = { validation: name, days, until: text }
  return [{ severity: 'warning', tag: 'ends_soon', message, attrs, timestamp: now.toISOString() }]
}

function ofRegions(announcement: Announcement, now: Date): StateMessage[] {
  return announcement.regions.flatMap((region): StateMessage[] => {
    const settled = isDesired(announcement, region) ? 'announced' : 'withdrawn'
    if (region.state === settled) return []
    const { slug, state, since, reason, isAssumed } = region
    const direction = settled === 'announced' ? 'Being announced.' : 'Being withdrawn.'
    const message = `${slug}: ${reason ? regionReasonText(reason, region.attrs) : direction}`
    const waits = now.getTime() - since.getTime() > 60_000
    const severity = state === 'error' ? 'error' : waits || isAssumed ? 'warning' : 'info'
    const attrs = { region: slug, reason, ...region.attrs }
    return [{ severity, tag: `region_${state}`, message, attrs, timestamp: since.toISOString() }]
  })
}
