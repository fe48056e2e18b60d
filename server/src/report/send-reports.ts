// Mails the reports of the month that is over to the members who subscribed. A row is the claim of a team and month, and its outcome is
// stored with the mails: any number of processes and restarts send each report once.
import { networkText } from '@pharos/contract/network-text'
import { formatRate } from '@pharos/contract/rate'
import type { MonthlyReport } from '@pharos/contract/messages/report'
import { monthText, noTrafficTexts } from '@pharos/contract/messages/report-text'
import type { Permission } from '@pharos/contract/route'
import { Temporal } from 'temporal-polyfill'
import { billingMonth, monthOf } from '../inventory/usage/billing-month.ts'
import { queueMail } from '../mail/mail.ts'
import { listReportSubscribers } from '../notification/notification.store.ts'
import { unsubscribeUrl } from '../notification/unsubscribe.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import {
  claimReport,
  deleteReportFiles,
  finishReport,
  listReportingTeams,
  postponeReport,
  type ClaimedReport,
  type ReportingTeam,
} from './mailed-report.store.ts'
import { buildReport, drawReport, hasData, type ReportDeps } from './report.ts'

export type SendReportsDeps = ReportDeps & {
  readonly ring: KeyRing
  /** Without a trailing slash. */
  readonly publicUrl: string
  /** Whether there is a flow store that may only be down: the report waits for it. */
  readonly keepsFlows: boolean
  /** The report of a team failed, and is due again when its lease ends. */
  readonly onError: (teamId: number, error: unknown) => void
}

/** After the months of services are closed, 24 hours after their end: 06:00 on the second day. */
const delayMs = 30 * 3_600_000
const leaseSeconds = 900
const waitForFlows = { everySeconds: 3_600, maxSeconds: 86_400 }

/** Returns the number of teams to which a report was mailed. */
export async function sendReports(deps: SendReportsDeps, signal: AbortSignal): Promise<number> {
  const { owner } = deps.postgres
  await deleteReportFiles(owner)
  let mailed = 0
  for (const team of await listReportingTeams(owner)) {
    if (signal.aborted) break
    try {
      const month = dueMonth(team, deps.now().getTime())
      const claim = month && (await claimReport(owner, team.id, month, leaseSeconds))
      if (claim && (await sendReport(deps, team, claim))) mailed++
    } catch (error) {
      deps.onError(team.id, error)
    }
  }
  return mailed
}

/** Returns the last month whose report is due, unless it has an outcome. Earlier reports are never sent. */
export function dueMonth(
  { timezone, last }: Pick<ReportingTeam, 'timezone' | 'last'>,
  nowMs: number,
): string | undefined {
  const over = Temporal.PlainYearMonth.from(monthOf(nowMs, timezone)).subtract({ months: 1 }).toString()
  const isDue = nowMs >= billingMonth(over, timezone).endMs + delayMs
  return isDue && (last === null || over > last) ? over : undefined
}

async function sendReport(
  deps: SendReportsDeps,
  team: ReportingTeam,
  claim: ClaimedReport,
): Promise<boolean> {
  const { owner } = deps.postgres
  if ((await listReportSubscribers(owner, team.id)).length === 0) {
    await finishReport(owner, claim, 'no_subscribers')
    return false
  }
  const sees = ({ module }: Permission & { readonly module?: string }): boolean =>
    module === undefined || team.modules.includes(module)
  const report = await buildReport(deps, { teamId: team.id, sees }, claim.month)
  const isUnread = report.traffic.state === 'unavailable' && deps.keepsFlows
  if (isUnread && claim.ageSeconds < waitForFlows.maxSeconds) {
    await postponeReport(owner, claim, waitForFlows.everySeconds)
    return false
  }
  // Traffic that could not be read is possible.
  if (!isUnread && !hasData(report)) {
    await finishReport(owner, claim, 'no_data')
    return false
  }
  return queueReport(deps, claim, report, await drawReport(deps, report))
}

/** The outcome and the mails are one transaction. */
function queueReport(
  { postgres, ring, publicUrl, now }: SendReportsDeps,
  claim: ClaimedReport,
  report: MonthlyReport,
  pdf: Buffer,
): Promise<boolean> {
  const { teamId, month } = claim
  const content = {
    team: report.team.name,
    teamId,
    month,
    monthText: monthText(month),
    rows: summaryOf(report),
    link: `${publicUrl}/reports?month=${month}`,
    settings: `${publicUrl}/profile/notifications`,
  }
  return postgres.owner.transaction().execute(async (trx) => {
    if (!(await finishReport(trx, claim, 'mailed', pdf))) return false
    for (const { userId, email } of await listReportSubscribers(trx, teamId)) {
      const unsubscribe = unsubscribeUrl(ring, publicUrl, { userId, teamId, from: 'report' }, now())
      await queueMail(trx, ring, {
        to: email,
        teamId,
        userId,
        template: 'monthly-report',
        content: { ...content, unsubscribe },
      })
    }
    return true
  })
}

/** The figures of the mail. */
function summaryOf({
  traffic,
  attacks,
  services,
  changes,
  change_count: count,
}: MonthlyReport): [string, string][] {
  const rateOf = (direction: string): string => {
    const p95 = traffic.hours?.series.find(({ key }) => key['direction'] === direction)?.p95
    return p95 ? formatRate(p95, 'bps') : '–'
  }
  const largest = attacks.largest[0]
  const above = (services ?? [])
    .flatMap(({ ports }) => ports)
    .filter(({ overage_bps }) => (overage_bps ?? 0) > 0)
  return [
    ...(traffic.state === 'measured'
      ? ([
          ['In, 95th percentile', rateOf('in')],
          ['Out, 95th percentile', rateOf('out')],
          ['Total traffic', formatRate((traffic.bytes_in ?? 0) + (traffic.bytes_out ?? 0), 'B')],
        ] satisfies [string, string][])
      : ([['Traffic', noTrafficTexts[traffic.state]]] satisfies [string, string][])),
    [
      'Attacks',
      `${attacks.count.toLocaleString('en')} (${attacks.count_before.toLocaleString('en')} in the month before)`,
    ],
    ...(largest && largest.bps > 0
      ? ([
          ['Largest attack', `${formatRate(largest.bps, 'bps')} on ${networkText(largest.network)}`],
        ] satisfies [string, string][])
      : []),
    ...(services === null
      ? []
      : ([['Ports above their commit', String(above.length)]] satisfies [string, string][])),
    ...(changes === null
      ? []
      : ([['Changes of announcements and shield rules', count.toLocaleString('en')]] satisfies [
          string,
          string,
        ][])),
  ]
}
