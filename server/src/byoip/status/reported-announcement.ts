// An announcement as reported while the routers of one of its regions cannot be read or have no BGP session: it is not
// reported as announced there. The stored state is the last observed one (decision 027). Pure; the same rule in SQL is
// shown_status().
import { isDesired, statusOf, type Announcement, type AnnouncementRegion } from './announcement.ts'

/** Returns the same object if every region that announces it is known to carry it. */
export function reportedAnnouncement(announcement: Announcement): Announcement {
  const regions = announcement.regions.map((region) => shownRegion(announcement, region))
  if (regions.every((region, at) => region === announcement.regions[at])) return announcement
  const shown = { ...announcement, regions }
  const claimsAnnounced = announcement.status === 'announced' || announcement.status === 'partially_announced'
  return claimsAnnounced ? { ...shown, status: statusOf(shown) } : shown
}

function shownRegion(announcement: Announcement, region: AnnouncementRegion): AnnouncementRegion {
  const isReadable = region.lastCheckResult === true
  if (region.state !== 'announced' || (isReadable && region.reached)) return region
  const { lastCheck, since } = region
  const why = isReadable
    ? ({ reason: 'no_neighbor', attrs: null } as const)
    : ({ reason: 'router_unreadable', attrs: { since: lastCheck?.toISOString() ?? null } } as const)
  return {
    ...region,
    ...why,
    state: isDesired(announcement, region) ? 'announcing' : 'withdrawing',
    since: !isReadable && lastCheck && lastCheck > since ? lastCheck : since,
    isAssumed: true,
  }
}
