// Announcements for tests, with defaults for values that a test does not need. The product does not import this file.
import { parseAsn } from '../../net/asn.ts'
import { parsePrefix } from '../../net/prefix.ts'
import {
  missingValidations,
  statusOf,
  type Announcement,
  type AnnouncementRegion,
  type OpenRegion,
} from '../status/announcement.ts'
import { noDetails } from '../status/announcement-details.ts'

export const sampleNow = new Date('2026-03-01T12:00:00.000Z')
const earlier = new Date('2026-02-01T00:00:00.000Z')

/** Region n has the id n and the nth slug of ams, fra, lon, nyc. */
export const sampleOpen: readonly OpenRegion[] = ['ams', 'fra', 'lon', 'nyc'].map((slug, at) => ({
  regionId: at + 1,
  slug,
  lastCheck: earlier,
  lastCheckResult: true,
  reached: true,
}))

/** Returns a region by its slug; configured and withdrawn by default. */
export function sampleRegion(slug: string, rest: Partial<AnnouncementRegion> = {}): AnnouncementRegion {
  const region = sampleOpen.find((one) => one.slug === slug)
  if (!region) throw new Error(`no sample region ${slug}`)
  const untouched = {
    configured: true,
    restorable: false,
    settled: null,
    state: 'withdrawn',
    since: earlier,
    reason: null,
    attrs: null,
    changes: [],
  } as const
  return { ...region, ...untouched, ...rest }
}

/** Returns a validated, disabled announcement of 203.0.113.0/24; the status is computed unless it is given. */
export function sampleAnnouncement(rest: Partial<Announcement> = {}): Announcement {
  const validated = { irrValidated: earlier, rpkiValidated: earlier, loaValidated: earlier, ...rest }
  const announcement: Announcement = {
    id: 42,
    teamId: 7,
    prefix: parsePrefix('203.0.113.0/24'),
    originAsn: parseAsn(64496),
    enabled: false,
    suspended: false,
    ...validated,
    clearance: missingValidations(validated).length === 0 ? 'passed' : 'pending',
    claimed: earlier,
    status: 'ready',
    version: 3,
    created: earlier,
    details: noDetails,
    regions: [],
    ...rest,
  }
  return { ...announcement, status: rest.status ?? statusOf(announcement) }
}
