// The statuses of announcements that somebody has to act on. A file of its own, since the sidebar counts them on every page.
export const blockedStatuses = ['validation_failed', 'suspended', 'error'] as const
