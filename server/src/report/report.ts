// Makes the report of a month of a team, for the API, the PDF and the mail. It reads with the operations that the API has for each
// part, so that a figure of the report is the figure of its page.
import { listAnnouncementsRoute } from '@pharos/contract/byoip/announcement'
import {
  reportAttacksMax,
  reportChangesMax,
  type MonthlyReport,
  type ReportAttacks,
  type ReportService,
} from '@pharos/contract/messages/report'
import type { Permission } from '@pharos/contract/route'
import { listServicesRoute } from '@pharos/contract/inventory/service'
import { listShieldRulesRoute } from '@pharos/contract/shield/shield'
import { Temporal } from 'temporal-polyfill'
import { getIncidentTimeseries } from '../events/list/event-timeseries.ts'
import { listIncidentKinds, listIncidents } from '../events/list/incident-list.ts'
import type { FlowDeps } from '../flow/read-flows.ts'
import type { ReadBrand } from '../brand/brand.ts'
import type { Postgres } from '../db/postgres.ts'
import { listBillablePorts } from '../inventory/bill/billable-port.ts'
import { listServices } from '../inventory/holding/service.ts'
import { billingMonth } from '../inventory/usage/billing-month.ts'
import { parsePrefix } from '../net/prefix.ts'
import { etagOf } from '../operation/etag.ts'
import type { Actor, Operation, ReadingActor } from '../operation/operation.ts'
import { createPdfDrawer, type PdfDrawer } from '../runtime/draw-pdf.ts'
import { invalid, notFound } from '../runtime/error.ts'
import { reportFilename } from './mailed-report.store.ts'
import { findReportedTeam, listReportedChanges, type ReportWindow } from './report.store.ts'
import type { ReportPdf } from './report-page.ts'
import { readTraffic } from './report-traffic.ts'

export type ReportDeps = {
  readonly postgres: Postgres
  readonly flows: FlowDeps
  readonly readBrand: ReadBrand
  readonly drawer: PdfDrawer<ReportPdf>
  readonly now: () => Date
}
export type ReportRouteDeps = ReportDeps & {
  readonly mayCall: (actor: Actor, permission: Permission) => boolean
}

/** A team, and the operations that the readers of the report may call: other content is omitted. */
export type ReportOf = { readonly teamId: number; readonly sees: (permission: Permission) => boolean }

/** The time at which it was made does not make it another report. */
export async function getMonthlyReport(
  deps: ReportRouteDeps,
  { actor }: Operation,
  month: string,
): Promise<{ body: MonthlyReport; etag: string }> {
  const body = await buildReport(deps, readerOf(deps, actor), month)
  return { body, etag: etagOf({ ...body, prepared: null }) }
}

export async function downloadMonthlyReport(
  deps: ReportRouteDeps,
  { actor }: Operation,
  month: string,
): Promise<{ bytes: Buffer; filename: string; mediaType: string }> {
  const report = await buildReport(deps, readerOf(deps, actor), month)
  return {
    bytes: await drawReport(deps, report),
    filename: reportFilename(month),
    mediaType: 'application/pdf',
  }
}

const readerOf = ({ mayCall }: ReportRouteDeps, actor: Actor): ReportOf => ({
  teamId: actor.teamId,
  sees: (permission) => mayCall(actor, permission),
})

export const createReportDrawer = (): PdfDrawer<ReportPdf> =>
  createPdfDrawer(new URL('report-thread.ts', import.meta.url))

export async function drawReport(
  { drawer, readBrand }: Pick<ReportDeps, 'drawer' | 'readBrand'>,
  report: MonthlyReport,
): Promise<Buffer> {
  return drawer.draw({ report, accent: (await readBrand()).accent })
}

/** Throws `invalid` for a month that has not begun. */
export async function buildReport(
  deps: ReportDeps,
  { teamId, sees }: ReportOf,
  month: string,
): Promise<MonthlyReport> {
  const { postgres, now: clock } = deps
  const now = clock()
  const team = await findReportedTeam(postgres, teamId)
  if (!team) throw notFound('team')
  const window = windowOf(month, team.timezone)
  if (window.start > now) throw invalid(['path', 'month'], 'futureMonth')
  const reader: ReadingActor = { actor: { teamId, staffRoles: [] } }
  const traffic = await readTraffic(deps.flows, reader, window, team.timezone)
  const attacks = await readAttacks(deps, reader, window, { month, timezone: team.timezone })
  const services = sees(listServicesRoute.permission) ? await readServices(deps, reader, month) : null
  const shown = {
    announcements: sees(listAnnouncementsRoute.permission),
    shield: sees(listShieldRulesRoute.permission),
  }
  const changes = await listReportedChanges(postgres, teamId, window, shown, reportChangesMax)
  return {
    month,
    timezone: team.timezone,
    start: window.start.toISOString(),
    end: window.end.toISOString(),
    complete: window.end <= now,
    prepared: now.toISOString(),
    provider: (await deps.readBrand()).name,
    team: { id: teamId, name: team.name },
    traffic,
    attacks,
    services,
    changes:
      shown.announcements || shown.shield
        ? changes.map(({ at, kind, prefix, rules }) => ({
            at: at.toISOString(),
            kind,
            prefix: parsePrefix(prefix),
            rules,
          }))
        : null,
    change_count: changes[0]?.total ?? 0,
  }
}

/** Whether anything happened in the month. */
export const hasData = ({ traffic, attacks, services, change_count: changes }: MonthlyReport): boolean =>
  traffic.state === 'measured' ||
  attacks.count > 0 ||
  changes > 0 ||
  (services ?? []).some(({ ports }) => ports.some(({ samples }) => samples > 0))

function windowOf(month: string, timezone: string): ReportWindow {
  const { startMs, endMs } = billingMonth(month, timezone)
  return { start: new Date(startMs), end: new Date(endMs) }
}

const daySeconds = 86_400
const kindsShown = 6

async function readAttacks(
  deps: ReportDeps,
  reader: ReadingActor,
  window: ReportWindow,
  { month, timezone }: { readonly month: string; readonly timezone: string },
): Promise<ReportAttacks> {
  const list = async ({ start, end }: ReportWindow, limit: number) => {
    const last = new Date(end.getTime() - 1)
    return await listIncidents(deps, reader, {
      start: start.toISOString(),
      end: last.toISOString(),
      false_positive: false,
      ordering: '-affected_bps',
      limit,
      offset: 0,
    })
  }
  const monthBefore = Temporal.PlainYearMonth.from(month).subtract({ months: 1 }).toString()
  const { results, count } = await list(window, reportAttacksMax)
  const before = await list(windowOf(monthBefore, timezone), 1)
  const { body: days } = await getIncidentTimeseries(deps, reader, {
    false_positive: false,
    start: window.start.toISOString(),
    end: window.end.toISOString(),
    interval: daySeconds,
    timezone,
    metric: 'count',
    group_by: 'peak_bps',
    limit: 10,
  })
  return {
    count,
    count_before: before.count,
    days,
    kinds: await listIncidentKinds(deps, reader, window, kindsShown),
    largest: results.map((incident) => ({
      id: incident.id,
      network: incident.network,
      classification_key: incident.classification_key,
      start: incident.start,
      end: incident.end,
      bps: incident.affected_bps,
      pps: incident.affected_pps,
    })),
  }
}

const servicesMax = 1_000
const portsMax = 1_000

/** The bills of the month: each is in the time zone of its service. */
async function readServices(deps: ReportDeps, reader: ReadingActor, month: string): Promise<ReportService[]> {
  const page = { limit: servicesMax, offset: 0, ordering: 'name' } as const
  const { results } = await listServices(deps, { actor: { ...reader.actor, limits: null } }, page)
  const services: ReportService[] = []
  for (const { id, name } of results) {
    const query = { period: month, ordering: 'name', limit: portsMax, offset: 0 } as const
    const { results: ports } = await listBillablePorts(deps, reader, id, query)
    if (ports.length > 0) services.push({ id, name, ports })
  }
  return services
}
