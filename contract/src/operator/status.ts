// The state of the installation for staff, as `pharos status` prints it, and its processes.
import { Type, type Static } from 'typebox'
import { route, staffReading } from '../route.ts'
import {
  Component,
  Enumeration,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  Optional,
  Ordering,
  Page,
  Repeatable,
  Strict,
  Time,
} from '../scalar.ts'

/** docs/operating/status.md explains each. */
export const statusProblemCodes = [
  'restore_open',
  'region_failed',
  'region_stale',
  'region_unled',
  'router_down',
  'router_without_neighbor',
  'former_router',
  'role_missing',
  'loop_late',
  'clock_differs',
  'devices_unread',
  'sampling_implausible',
  'registry_down',
  'registry_doubtful',
  'flow_store_down',
  'visibility_down',
  'routes_missing',
  'announcements_unseen',
  'work_unled',
  'approval_open',
  'zone_refused',
  'lag',
  'operator_webhook_failing',
  'import_failed',
  'upgrade_unfinished',
] as const
export type StatusProblemCode = (typeof statusProblemCodes)[number]

const count = (description: string) => Type.Integer({ minimum: 0, description })

/** The states that every part of the installation is counted by. */
export const partStates = ['ok', 'failing', 'unknown', 'paused'] as const
export type PartState = (typeof partStates)[number]

export const statusParts = [
  'regions',
  'routers',
  'sessions',
  'devices',
  'registries',
  'detectors',
  'webhooks',
  'name_servers',
  'scrubbers',
  'exporters',
] as const
export type StatusPart = (typeof statusParts)[number]

const PartCounts = Component('StatusPartCounts', {
  part: {
    ...Enumeration('StatusPart', statusParts),
    description:
      '`sessions`: BGP sessions of routers; `detectors`: sources of events; `webhooks`: of customers and of the operator; `exporters`: of flows',
  },
  ok: count('work'),
  failing: count('do not work, or not completely'),
  unknown: count('not asked yet, or nobody asks them now: they may work or not'),
  paused: count('drained, in maintenance or disabled'),
})
export type PartCounts = Static<typeof PartCounts>

const queues = ['deliveries', 'mails', 'webhooks', 'outbox', 'audit'] as const
export type StatusQueue = (typeof queues)[number]

const StatusProblem = Component('StatusProblem', {
  code: { ...Enumeration('StatusProblemCode', statusProblemCodes), description: 'code of the problem' },
  subject: Type.String({ description: 'what it is about, such as a region' }),
  message: Type.String({ description: 'the problem as text' }),
})
export type StatusProblem = Static<typeof StatusProblem>

export const InstallationStatus = Component('InstallationStatus', {
  at: { ...Time, description: 'when it was read' },
  version: Type.String({ description: 'release of the process that answers' }),
  parts: Type.Array(PartCounts, { description: 'all parts, by state' }),
  queues: Type.Array(
    Component('StatusQueue', {
      name: {
        ...Enumeration('StatusQueueName', queues),
        description:
          '`deliveries`: of detectors; `outbox`: messages that cannot be read yet; `audit`: entries that are not sealed',
      },
      waiting: count('what waits'),
      oldest_seconds: Type.Number({ minimum: 0, description: 'how long the oldest has waited' }),
    }),
    { description: 'the queues of the database' },
  ),
  processes: Component('StatusProcesses', {
    running: count('processes that reported within 45 seconds'),
    late_loops: count('loops of them that have not succeeded for three intervals and a minute'),
    versions: Type.Array(Type.String(), { description: 'their releases, without duplicates' }),
    missing_roles: Type.Array(Type.String(), { description: 'roles that no running process has' }),
  }),
  bills: Component('StatusBills', {
    needs_decision: count('closed bills of which too many samples are missing'),
    last_month: Nullable(
      Type.String({ description: 'the newest month with closed bills, as 2026-03; null without bills' }),
    ),
    last_month_bills: count('closed bills of that month, without those that were corrected'),
  }),
  problems: Type.Array(StatusProblem, { description: 'the most urgent first; empty if all is well' }),
  warnings: Type.Array(
    Component('StatusWarning', {
      code: {
        ...Enumeration('StatusWarningCode', ['flow_store_missing']),
        description: 'code of the warning',
      },
      subject: Type.String({ description: 'what it is about' }),
      message: Type.String({ description: 'the warning as text' }),
    }),
    { description: 'conditions that may be unintended' },
  ),
})
export type InstallationStatus = Static<typeof InstallationStatus>

export const getStatusRoute = route({
  name: 'getStatus',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/status',
  summary: 'Get state of the installation',
  description:
    'The state of the whole installation in the database, as `pharos status` prints it: parts by state, queues, processes and problems. Routers, registries ' +
    'and processes are not asked for it.',
  permission: staffReading('operator.see'),
  response: InstallationStatus,
  success: 200,
})

const roles = ['api', 'reconciler', 'collector', 'nameserver'] as const

const Process = Component('Process', {
  id: Type.String({ description: 'random id of the running program' }),
  host: Type.String({ description: 'name of the host' }),
  pid: Type.Integer({ description: 'process id on the host' }),
  version: Type.String({ description: 'release' }),
  roles: Type.Array(Enumeration('ProcessRole', roles), { description: 'what it does' }),
  started: { ...Time, description: 'when it was started' },
  seen: { ...Time, description: 'last report; every 15 seconds' },
  running: Type.Boolean({
    description:
      'whether it reported within 45 seconds; others are listed for a day, unless they were stopped',
  }),
  clock_ms: Nullable(
    Type.Integer({ description: 'by how much its clock is ahead of that of the database; null if unknown' }),
  ),
  late_loops: count('loops that have not succeeded for three intervals and a minute'),
  loops: Type.Array(
    Component('ProcessLoop', {
      name: Type.String({ description: 'name of the loop' }),
      interval_seconds: Type.Number({ minimum: 0, description: 'how often it runs' }),
      last_success: { ...NullableTime, description: 'end of the last successful run; null if none was' },
      late: Type.Boolean({ description: 'whether it has not succeeded for three intervals and a minute' }),
    }),
    { description: 'its loops by name' },
  ),
  flow_store: Nullable(
    Component(
      'ProcessFlowStore',
      {
        kind: { ...Enumeration('FlowStoreKind', ['embedded', 'server']), description: 'where it is' },
        state: {
          ...Enumeration('FlowStoreState', ['unused', 'up', 'down', 'missing']),
          description: '`unused`: the process has not needed it; `missing`: not installed or configured',
        },
        error: Nullable(Type.String({ description: 'error of the last call, if it failed' })),
        since: { ...NullableTime, description: 'when it came up or went down' },
      },
      { description: 'the flow store as it sees it; null if not reported' },
    ),
  ),
})
export type Process = Static<typeof Process>

export const listProcessesRoute = route({
  name: 'listProcesses',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/processes',
  summary: 'List processes',
  description:
    'The processes of the installation with their releases, roles and loops, as each reports itself.',
  permission: staffReading('operator.see'),
  query: Strict({
    role: Optional(Repeatable({ ...Enumeration('ProcessRole', roles), description: 'a role' })),
    running: Optional(Type.Boolean({ description: 'whether it reported within 45 seconds' })),
    version: Optional(Repeatable(Type.String({ minLength: 1, maxLength: 100, description: 'a release' }))),
    ordering: Ordering(['host', 'started', 'seen', 'version'], 'host'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Process),
  success: 200,
})

export const adminStatusRoutes = [getStatusRoute, listProcessesRoute]
