// The tabs of an announcement's page, as its address names them.
export const tabsOfAnnouncement = ['checks', 'regions', 'letters', 'visibility', 'history', 'api'] as const
export type AnnouncementTab = (typeof tabsOfAnnouncement)[number]
