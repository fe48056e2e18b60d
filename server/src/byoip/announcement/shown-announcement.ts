// An announcement as it is shown while the router of one of its regions cannot be read: nothing claims that a prefix is
// announced there. What is stored stays as it was last seen (decision 027). Pure; its twin in SQL is shown_status().
import { isDesired, statusOf, type Announcement, type AnnouncementRegion } from './announcement.ts'

/** Whether the region's router was read at the last check, and that is not long ago. */
const isReadable = ({ lastCheckResult }: AnnouncementRegion): boolean => lastCheckResult === true

/** The very same object where every region that announces it can be read. */
export function shownAnnouncement(announcement: Announcement): Announcement {
  const regions = announcement.regions.map((region) => shownRegion(announcement, region))
  if (regions.every((region, at) => region === announcement.regions[at])) return announcement
  const shown = { ...announcement, regions }
  const claimsAnnounced = announcement.status === 'announced' || announcement.status === 'partially_announced'
  return claimsAnnounced ? { ...shown, status: statusOf(shown) } : shown
}

function shownRegion(announcement: Announcement, region: AnnouncementRegion): AnnouncementRegion {
  if (region.state !== 'announced' || isReadable(region)) return region
  const { lastCheck, since } = region
  const unreadable = { since: lastCheck?.toISOString() ?? null }
  return {
    ...region,
    state: isDesired(announcement, region) ? 'announcing' : 'withdrawing',
    since: lastCheck && lastCheck > since ? lastCheck : since,
    message: routerUnreadableText(unreadable),
    unreadable,
  }
}

/** The reason of such a state. */
export const routerUnreadable = 'router_unreadable'

function routerUnreadableText({ since }: { readonly since: string | null }): string {
  return since === null
    ? "The region's router has not been read yet. Nothing is withdrawn because of that."
    : `The region's router has not been read since ${since}. It announced the prefix then. Nothing is withdrawn because of that.`
}
