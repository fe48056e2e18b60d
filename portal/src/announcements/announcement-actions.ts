// Bulk actions on announcements. Enabling and disabling show the server's dry run of each first.
import {
  getAnnouncementRoute,
  listAnnouncementsRoute,
  updateAnnouncementRoute,
  validateAnnouncementRoute,
  type Announcement,
} from '@pharos/contract/byoip/announcement'
import { call, resultOf } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import type { BulkAction } from '../ui/list-bulk.tsx'
import { words } from './words.ts'

const { actions: texts } = words.list

const shared = {
  nameOf: ({ cidr }: Announcement) => cidr,
  onDone: () => invalidate(getAnnouncementRoute, listAnnouncementsRoute),
}

/** The dry run of one announcement, as in EnableDialog. */
const previewOf =
  (enabled: boolean) =>
  async (
    { id, enabled: before, regions }: Announcement,
    signal: AbortSignal,
  ): Promise<string | undefined> => {
    const { body } = await call(updateAnnouncementRoute, {
      params: { announcement_id: id },
      body: { enabled },
      query: { dry_run: true, include: 'region_states' } as object,
      signal,
    })
    const next = resultOf<Announcement>(body)
    if (before === enabled) return undefined
    if (!enabled) return texts.withdrawnFrom(regions.join(', '))
    const wanted = next.region_states?.filter(({ desired }) => desired) ?? []
    return texts.announcedIn(wanted.map(({ region }) => region).join(', '))
  }

const change = (enabled: boolean) => ({
  ...shared,
  preview: previewOf(enabled),
  apply: async ({ id }: Announcement) => {
    await call(updateAnnouncementRoute, { params: { announcement_id: id }, body: { enabled } })
  },
})

export const announcementActions: readonly BulkAction<Announcement>[] = [
  { ...change(true), label: texts.enable, title: texts.enableTitle, effect: texts.enableEffect },
  {
    ...change(false),
    label: texts.disable,
    title: texts.disableTitle,
    effect: texts.disableEffect,
    danger: true,
  },
  {
    ...shared,
    label: texts.check,
    title: texts.checkTitle,
    effect: texts.checkEffect,
    apply: async ({ id }) => {
      await call(validateAnnouncementRoute, { params: { announcement_id: id } })
    },
  },
]
