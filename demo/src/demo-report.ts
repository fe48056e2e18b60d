// The monthly report of the demo: the admin of the team gets it, and last month's is mailed once its traffic is in the flow store.
import type { Db, Postgres } from '../../server/src/db/postgres.ts'
import { wake } from '../../server/src/db/wake.ts'
import { settingsOf } from '../../server/src/notification/settings.ts'
import { findSettings, saveNotificationSettings } from '../../server/src/notification/settings.store.ts'
import {
  claimReport,
  postponeReport,
  type ClaimedReport,
} from '../../server/src/report/mailed-report.store.ts'
import { dueMonth } from '../../server/src/report/send-reports.ts'
import { findTeamAdmin } from './demo.store.ts'

/** Without a flow store its history never ends: then the report is sent without traffic. */
const waitSeconds = 900

/** Subscribes the admin, unless the settings were saved before. Until the claim is released, no process sends the report. */
export async function subscribeToReport({ owner }: Postgres, now: Date): Promise<ClaimedReport | undefined> {
  return owner.transaction().execute(async (trx) => {
    const admin = await findTeamAdmin(trx, 'demo')
    if (!admin || (await findSettings(trx, admin.userId, admin.teamId))) return undefined
    await saveNotificationSettings(trx, admin.userId, admin.teamId, {
      ...settingsOf(undefined),
      monthlyReport: true,
    })
    const month = dueMonth({ timezone: admin.timezone, last: null }, now.getTime())
    return month === undefined ? undefined : claimReport(trx, admin.teamId, month, waitSeconds)
  })
}

/** The report is due. */
export async function releaseReport(db: Db, claim: ClaimedReport): Promise<void> {
  await postponeReport(db, claim, 0)
  await wake(db, 'reports')
}
