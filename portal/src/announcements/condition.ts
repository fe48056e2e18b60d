// The label of an announcement's state, and the possible action. Pure.
import type { Announcement } from '@pharos/contract/byoip/announcement'
import type { Shown } from '../ui/status.tsx'
import { openChecks } from './check-view.ts'
import { words } from './words.ts'

const { head: texts, regions } = words

const openCount = ({ validations = [] }: Announcement): number =>
  validations.filter(({ state }) => state !== 'valid').length

export const hasOpenChecks = (announcement: Announcement): boolean => openCount(announcement) > 0

/** Returns why it cannot be announced now; undefined if it can. */
export function blockedReason(announcement: Announcement): string | undefined {
  if (announcement.details?.suspended) return regions.suspended
  const open = openCount(announcement)
  return open > 0 ? regions.blocked(open) : undefined
}

/** Returns the reason why an announcement is blocked; undefined if its status is sufficient. */
export function blockedShown(announcement: Announcement): Shown | undefined {
  const { status, validations = [] } = announcement
  if (status !== 'validation_failed' && status !== 'pending_validation') return undefined
  const { you, provider } = openChecks(validations)
  const open = openCount(announcement)
  if (you.length > 0) return { label: texts.blocked(open), color: 'warn' }
  return provider.length > 0 ? { label: texts.waits, color: 'info' } : undefined
}

/** Returns the number of checks that fail while it is enabled. */
export const failingCount = (announcement: Announcement): number =>
  announcement.enabled ? openCount(announcement) : 0

export type PrimaryAction = 'announce' | 'withdraw' | 'check'

/** Returns the one action that fits the state. */
export function primaryAction(announcement: Announcement): PrimaryAction {
  if (announcement.enabled) return 'withdraw'
  return blockedReason(announcement) === undefined ? 'announce' : 'check'
}
