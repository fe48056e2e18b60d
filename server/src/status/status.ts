// The state of the whole installation in the database, for `pharos status`: one snapshot with its problems. It does not
// query routers, registries or processes.
import { counted } from '@pharos/contract/counted'
import type {
  PartCounts,
  StatusProblem,
  StatusProblemCode,
  StatusQueue,
} from '@pharos/contract/operator/status'
import type { FormerRouter } from '@pharos/contract/byoip/former-router'
import { ratioText } from '@pharos/contract/messages/notification-text'
import { sql } from 'kysely'
import { readFormerRouters } from '../byoip/regions/former-router.ts'
import { checkFreshMs, readRegionStatuses, type RegionStatus } from '../byoip/regions/router.ts'
import {
  countUnseen,
  listVisibilitySources,
  type SourceStatus,
  type UnseenCounts,
} from '../byoip/visibility/visibility.store.ts'
import { listImplausibleSampling, type ImplausibleSampling } from '../collector/counter-check.store.ts'
import type { Db } from '../db/postgres.ts'
import { readRetentions, type RowRetention, type RetentionConfig } from '../db/retention.ts'
import { listImports, type ImportState } from '../platform/engine/import-state.store.ts'
import type { Config } from '../runtime/config.ts'
import { allRoles } from '../runtime/role.ts'
import { compareVersions, version } from '../runtime/version.ts'
import { readFigures, type Figures } from './figures.store.ts'
import { readPartCounts } from './part-counts.ts'
import { isLate, isRunning } from './process-list.ts'
import { isClockOff } from './process-report.ts'
import {
  countBills,
  countUnreadDevices,
  listOpenApprovals,
  listRefusedZones,
  readOpenRestore,
  listProcesses,
  readFloor,
  readLag,
  readLeaders,
  type BillCounts,
  type Lag,
  type Leaders,
  type WaitingApproval,
  type RefusedZone,
  type LiveProcess,
} from './status.store.ts'

/** Conditions that are no problem of a supported installation, but may be unintended. */
export type StatusWarningCode = 'flow_store_missing'
export type StatusWarning = Omit<StatusProblem, 'code'> & { readonly code: StatusWarningCode }

export type Status = {
  readonly at: Date
  readonly regions: readonly RegionStatus[]
  /** Routers that a region no longer has, and that are not empty yet. */
  readonly former_routers: readonly FormerRouter[]
  readonly leaders: Leaders
  /** Processes that reported recently. */
  readonly processes: readonly LiveProcess[]
  /** Changes that need approval; at most 100. */
  readonly approvals: readonly WaitingApproval[]
  /** Zones that a name server refuses while others serve them; at most 100. */
  readonly refused_zones: readonly RefusedZone[]
  /** While it is open, all sending is stopped. */
  readonly restore: { readonly id: number; readonly detected: string; readonly undecided: number } | null
  /** The sources of visibility; empty if not configured. */
  readonly visibility: readonly SourceStatus[]
  readonly unseen: UnseenCounts
  /** Imports of inventory; empty before the first run. */
  readonly imports: readonly ImportState[]
  /** Devices that no process has read for three intervals: their states are unknown. */
  readonly unread_devices: number
  /** All parts of the installation by state. */
  readonly parts: readonly PartCounts[]
  readonly bills: BillCounts
  /** Ports whose flows do not match the counters of their interfaces; at most 100. */
  readonly implausible_sampling: readonly ImplausibleSampling[]
  /** How long rows are kept that a setting limits. */
  readonly retention: readonly RowRetention[]
  /** The oldest release that may run; null before the first upgrade was finished. */
  readonly schema_floor: string | null
  readonly lag: Lag & Pick<Figures, 'deliveries' | 'mails' | 'webhooks'>
  /** Most urgent first; empty if all is well. */
  readonly problems: readonly StatusProblem[]
  /** Warnings do not change the exit code. */
  readonly warnings: readonly StatusWarning[]
}

/** Names of Leadership: work of which one process of the reconciler role is the leader. */
const ledWorks = ['audit', 'validator'] as const

/** Work that waits for longer than this needs attention. */
const lagSecondsMax = 300
const statementTimeout = '5s'

export type StatusConfig = Pick<Config, 'reconcileIntervalSeconds'> & RetentionConfig

/** Rejects if the database cannot be read. */
export async function readStatus(db: Db, config: StatusConfig): Promise<Status> {
  const facts = await db
    .transaction()
    .setAccessMode('read only')
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      await sql`select set_config('statement_timeout', ${statementTimeout}, true)`.execute(trx)
      const { rows } = await sql<{ at: Date }>`select now() as at`.execute(trx)
      return {
        at: rows[0]!.at,
        regions: await readRegionStatuses(trx),
        former_routers: await readFormerRouters(trx),
        leaders: await readLeaders(trx, ledWorks),
        processes: (await listProcesses(trx)).filter(isRunning),
        approvals: await listOpenApprovals(trx),
        refused_zones: await listRefusedZones(trx),
        restore: await readOpenRestore(trx),
        visibility: await listVisibilitySources(trx),
        unseen: await countUnseen(trx),
        imports: await listImports(trx),
        unread_devices: await countUnreadDevices(trx),
        implausible_sampling: await listImplausibleSampling(trx),
        bills: await countBills(trx),
        lag: await readLag(trx),
        retention: await readRetentions(trx, config),
        schema_floor: await readFloor(trx),
      }
    })
  const { deliveries, mails, webhooks } = await readFigures(db)
  const status = {
    ...facts,
    parts: await readPartCounts(db, facts),
    lag: { ...facts.lag, deliveries, mails, webhooks },
  }
  const problems = findProblems(status, checkFreshMs(config.reconcileIntervalSeconds))
  return { ...status, problems, warnings: flowStoreWarnings(status) }
}

/** Returns the problems that need attention. `freshMs`: maximum age of the last check of a region. */
function findProblems(status: Omit<Status, 'problems' | 'warnings'>, freshMs: number): StatusProblem[] {
  return [
    ...restoreProblems(status),
    ...status.regions.flatMap((region) => regionProblems(region, status, freshMs)),
    ...formerProblems(status),
    ...approvalProblems(status),
    ...zoneProblems(status),
    ...processProblems(status),
    ...deviceProblems(status),
    ...samplingProblems(status),
    ...registryProblems(status),
    ...flowStoreProblems(status),
    ...visibilityProblems(status),
    ...unseenProblems(status),
    ...importProblems(status),
    ...lagProblems(status.lag),
    ...upgradeProblems(status),
  ]
}

function restoreProblems({ restore }: Pick<Status, 'restore'>): StatusProblem[] {
  if (restore === null) return []
  const message = `nothing is sent since ${restore.detected}, ${counted(restore.undecided, 'difference is', 'differences are')} undecided: pharos restore show`
  return [{ code: 'restore_open', subject: `restore ${restore.id}`, message }]
}

function regionProblems(
  region: RegionStatus,
  { at, leaders }: Pick<Status, 'at' | 'leaders'>,
  freshMs: number,
): StatusProblem[] {
  const { id, slug, last_check, last_check_result, error, routers, routes_missing: missing } = region
  const problems: StatusProblem[] = []
  const add = (code: StatusProblemCode, subject: string, message: string) =>
    problems.push({ code, subject, message })
  if (last_check_result === false && error !== null) add('region_failed', slug, error)
  else if (last_check === null) add('region_stale', slug, 'never checked')
  else if (at.getTime() - new Date(last_check).getTime() > freshMs)
    add('region_stale', slug, `last checked at ${last_check}`)
  if (!leaders.regions.includes(id)) add('region_unled', slug, 'no reconciler works on it')
  if (missing > 0)
    add(
      'routes_missing',
      slug,
      `${counted(missing, 'desired route does', 'desired routes do')} not reach its neighbors: see include=region_states`,
    )
  for (const { name, last_check_result: isUp, error, drained, neighbors } of routers) {
    const subject = `${slug}/${name}`
    if (isUp === false) add('router_down', subject, error ?? 'cannot be read')
    else if (isUp && drained === null && neighbors.every(({ state }) => state !== 'established'))
      add(
        'router_without_neighbor',
        subject,
        ['no established BGP session: its routes reach no other network.', ...endsOf(neighbors)].join(' '),
      )
  }
  return problems
}

const endsOf = (neighbors: RegionStatus['routers'][number]['neighbors']): string[] =>
  neighbors.flatMap(({ address, end }) => (end ? [`${address}: ${end.message}`] : []))
const formerProblems = ({ former_routers: formers }: Pick<Status, 'former_routers'>): StatusProblem[] =>
  formers.map(({ id, region, name, router, last_check, routes, error }) => {
    const held =
      last_check === null ? `may have ${counted(routes, 'route')}` : `has ${counted(routes, 'route')}`
    const gone = `if it is gone: pharos region gone ${id}`
    return {
      code: 'former_router',
      subject: `${region}/${name}`,
      message: `the former router ${router} ${held}${error === null ? '' : `; ${error}`}; ${gone}`,
    }
  })

/** Once the upgrade is finished, new values are written, and parts that only older releases need are removed. */
const upgradeProblems = ({ schema_floor: floor }: Pick<Status, 'schema_floor'>): StatusProblem[] =>
  floor !== null && compareVersions(floor, version) >= 0
    ? []
    : [
        {
          code: 'upgrade_unfinished',
          subject: 'database',
          message: `run pharos migrate --finish when every process runs Pharos ${version}`,
        },
      ]

const approvalProblems = ({ approvals }: Pick<Status, 'approvals'>): StatusProblem[] =>
  approvals.map(({ id, subject }) => ({
    code: 'approval_open',
    subject,
    message: `changes need approval: pharos approvals show ${id}`,
  }))

const zoneProblems = ({ refused_zones: zones }: Pick<Status, 'refused_zones'>): StatusProblem[] =>
  zones.map(({ name, servers }) => ({
    code: 'zone_refused',
    subject: name,
    message: `${servers.join(', ')} ${servers.length === 1 ? 'keeps' : 'keep'} an old version that others have replaced; the log of the server has the reason`,
  }))

function processProblems({ processes, leaders }: Pick<Status, 'processes' | 'leaders'>): StatusProblem[] {
  const missing = allRoles.filter((role) => !processes.some(({ roles }) => roles.includes(role)))
  const unled = missing.includes('reconciler') ? [] : ledWorks.filter((work) => !leaders.works.includes(work))
  return [
    ...missing.map((role) => ({
      code: 'role_missing' as const,
      subject: role,
      message: 'no running process has this role',
    })),
    ...unled.map((work) => ({ code: 'work_unled' as const, subject: work, message: 'no process leads' })),
    ...processes.flatMap(lateLoops),
    ...processes.filter(({ clock_ms: ms }) => isClockOff(ms)).map(clockProblem),
  ]
}

const clockProblem = ({ host, pid, clock_ms: ms }: LiveProcess): StatusProblem => ({
  code: 'clock_differs',
  subject: `${host}:${pid}`,
  message: `its clock is ${Math.round(Math.abs(ms!) / 1000)} s ${ms! > 0 ? 'ahead of' : 'behind'} that of the database: check the time synchronization of both`,
})

const samplingProblems = ({
  implausible_sampling: found,
}: Pick<Status, 'implausible_sampling'>): StatusProblem[] =>
  found.map(({ exporter, port, ratio, hours, since }) => ({
    code: 'sampling_implausible',
    subject: `exporter ${exporter}, port ${port}`,
    message: `flows have ${ratioText(ratio)} times the octets of the interface for ${hours} h, since ${since}: check the sampling rate, and whether packets are exported twice`,
  }))

const deviceProblems = ({ unread_devices: unread }: Pick<Status, 'unread_devices'>): StatusProblem[] =>
  unread === 0
    ? []
    : [
        {
          code: 'devices_unread',
          subject: 'devices',
          message: `no collector has read ${counted(unread, 'device')} for three intervals: the states of their ports are unknown`,
        },
      ]

const lateLoops = (process: LiveProcess): StatusProblem[] =>
  process.loops
    .filter((loop) => isLate(loop, process))
    .map(({ name, last_success }) => ({
      code: 'loop_late',
      subject: `${name} on ${process.host}:${process.pid}`,
      message:
        last_success === null ? 'has not succeeded since the start' : `last succeeded at ${last_success}`,
    }))

/** One answering source of each kind is enough for verdicts; sources that do not answer are reported nevertheless. */
const registryProblems = ({ processes }: Pick<Status, 'processes'>): StatusProblem[] =>
  processes.flatMap(({ host, pid, registries }) =>
    registries.flatMap(({ kind, name, ok, answered, doubt }): StatusProblem[] => {
      const subject = `${kind} ${name} on ${host}:${pid}`
      const message = answered === null ? 'has not answered' : `last answered at ${answered}`
      if (!ok) return [{ code: 'registry_down', subject, message }]
      return doubt ? [{ code: 'registry_doubtful', subject, message: doubt }] : []
    }),
  )

const flowStoreProblems = ({ processes }: Pick<Status, 'processes'>): StatusProblem[] =>
  processes.flatMap(({ host, pid, flow_store: store }) =>
    store?.state === 'down'
      ? [
          {
            code: 'flow_store_down' as const,
            subject: `flow store of ${host}:${pid}`,
            message: `down since ${store.since}: ${store.error}`,
          },
        ]
      : [],
  )

/** Warnings of processes that have needed the store: flows arrive, or were requested. */
const flowStoreWarnings = ({ processes }: Pick<Status, 'processes'>): StatusWarning[] =>
  processes.flatMap(({ host, pid, flow_store: store }) =>
    store?.state === 'missing'
      ? [
          {
            code: 'flow_store_missing' as const,
            subject: `flow store of ${host}:${pid}`,
            message: 'flows are not kept, since no ClickHouse is installed or configured (CLICKHOUSE_URL)',
          },
        ]
      : [],
  )

const visibilityProblems = ({ visibility }: Pick<Status, 'visibility'>): StatusProblem[] =>
  visibility.flatMap(({ name, problem, is_followed }) => {
    const message = is_followed ? problem : 'no process follows it'
    return message === null ? [] : [{ code: 'visibility_down' as const, subject: name, message }]
  })

function unseenProblems({ unseen }: Pick<Status, 'unseen'>): StatusProblem[] {
  const texts = {
    not_visible: 'seen by hardly any route collector',
    other_path: 'seen by no route collector through us',
  }
  return (['not_visible', 'other_path'] as const)
    .filter((reason) => unseen[reason] > 0)
    .map((reason) => ({
      code: 'announcements_unseen',
      subject: reason,
      message: `${counted(unseen[reason], 'announced prefix is', 'announced prefixes are')} ${texts[reason]}`,
    }))
}

const importProblems = ({ imports }: Pick<Status, 'imports'>): StatusProblem[] =>
  imports.flatMap(({ source, error, succeeded }) => {
    const since = succeeded === null ? 'it has never succeeded' : `last success at ${succeeded.toISOString()}`
    return error === null
      ? []
      : [{ code: 'import_failed' as const, subject: source, message: `${error}; ${since}` }]
  })

/** The queues with what waits in each. */
export function queuesOf({
  deliveries,
  mails,
  webhooks,
  ...lag
}: Status['lag']): { name: StatusQueue; waiting: number; oldest_seconds: number }[] {
  return [
    { name: 'deliveries', ...deliveries },
    { name: 'mails', ...mails },
    { name: 'webhooks', waiting: webhooks.waiting, oldest_seconds: lag.webhook_seconds },
    { name: 'outbox', waiting: lag.outbox, oldest_seconds: lag.outbox_seconds },
    { name: 'audit', waiting: lag.audit_unsealed, oldest_seconds: lag.audit_seconds },
  ]
}

function lagProblems(lag: Status['lag']): StatusProblem[] {
  const { operator_webhook_failing_since: failing } = lag
  return [
    ...queuesOf(lag)
      .filter(({ oldest_seconds: seconds }) => seconds > lagSecondsMax)
      .map(({ name, waiting, oldest_seconds: seconds }) => ({
        code: 'lag' as const,
        subject: name,
        message: `${waiting} waiting, the oldest for ${Math.round(seconds)} s`,
      })),
    ...(failing === null
      ? []
      : [
          {
            code: 'operator_webhook_failing' as const,
            subject: 'operator webhook',
            message: `nothing was delivered since ${failing.toISOString()}`,
          },
        ]),
  ]
}
