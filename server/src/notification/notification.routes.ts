// The HTTP side of personal notifications: one line per operation.
import {
  getNotificationSettingsRoute,
  listNotificationsRoute,
  readNotificationsRoute,
  updateNotificationSettingsRoute,
} from '@pharos/contract/messages/notification'
import type { Db } from '../db/postgres.ts'
import { handle, type Mounted } from '../http/mount.ts'
import { listNotifications, readNotifications } from './feed.ts'
import { getNotificationSettings, updateNotificationSettings } from './settings.ts'

export type NotificationDeps = { readonly db: Db; readonly now: () => Date }

export const notificationRoutes = (deps: NotificationDeps): Mounted[] => [
  handle(getNotificationSettingsRoute, getNotificationSettings, deps),
  handle(updateNotificationSettingsRoute, updateNotificationSettings, deps),
  handle(listNotificationsRoute, listNotifications, deps),
  handle(readNotificationsRoute, readNotifications, deps),
]
