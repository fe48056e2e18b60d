// The texts of the provider's overview, and of the pages about the installation.
import type { StatusPart, StatusQueue } from '@pharos/contract/operator/status'

/** Returns the count with its noun. */
const counted = (count: number, one: string, several: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : several}`

const parts: Record<StatusPart, string> = {
  regions: 'Regions',
  routers: 'Routers',
  sessions: 'BGP sessions',
  devices: 'Devices',
  registries: 'Registries',
  detectors: 'Detectors',
  webhooks: 'Webhooks',
  name_servers: 'Name servers',
  scrubbers: 'Scrubbers',
  exporters: 'Flow exporters',
}

const queues: Record<StatusQueue, string> = {
  deliveries: 'Deliveries of detectors',
  mails: 'Mails',
  webhooks: 'Webhook deliveries',
  outbox: 'Messages',
  audit: 'Audit entries to seal',
}

export const words = {
  overview: {
    title: 'Provider overview',
    note: 'All customers and the whole installation, now.',
    unread: 'The state of the installation could not be read. Figures are unknown until it can.',
    old: 'Data as of',
    attacks: 'Attacks now',
    largest: (rate: string) => `largest ${rate}`,
    waiting: 'Waits for you',
    oldest: 'Oldest',
    nothingWaits: 'Nothing waits for you.',
    noAttacks: 'No customer is attacked.',
    allAttacks: 'All attacks',
    openInbox: 'Open inbox',
    more: (count: number) => `${count.toLocaleString('en')} more`,
    parts,
    of: (count: number) => `of ${count.toLocaleString('en')}`,
    allOk: 'All work',
    none: 'None set up',
    failing: (count: number) => `${count.toLocaleString('en')} failing`,
    unknown: (count: number) => `${count.toLocaleString('en')} unknown`,
    paused: (count: number) => `${count.toLocaleString('en')} paused`,
    problems: 'Needs attention',
    noProblems: 'No problems found.',
    warning: 'Warning',
    queues: 'Queues',
    queue: queues,
    queueColumns: ['Queue', 'Waiting', 'Oldest'],
    processes: 'Processes',
    versions: (all: readonly string[]) => (all.length === 0 ? 'None report' : all.join(', ')),
    lateLoops: (count: number) => counted(count, 'loop is late', 'loops are late'),
    missingRoles: (roles: string) => `no ${roles}`,
    several: (count: number) => `${count} releases run at once`,
    bills: 'Bills to decide',
    lastMonth: (month: string, bills: number) => `${month}: ${counted(bills, 'bill', 'bills')} closed`,
    noBills: 'No month is closed yet',
  },
  processes: {
    title: 'Processes',
    note: 'The programs of the installation, as each reports itself every 15 seconds.',
    things: ['process', 'processes'],
    process: 'Process',
    roles: 'Roles',
    role: { api: 'API', reconciler: 'Reconciler', collector: 'Collector', nameserver: 'Name server' },
    version: 'Release',
    state: 'State',
    running: 'Running',
    silent: 'No report',
    stateYes: 'Running',
    stateNo: 'Without a report',
    late: (count: number) => counted(count, 'late loop', 'late loops'),
    started: 'Started',
    seen: 'Last report',
    loops: 'Loops',
    loopsOf: (ok: number, all: number) => `${ok} of ${all}`,
    clock: 'Clock',
    clockOf: (ms: number) =>
      Math.abs(ms) < 1000
        ? `${ms} ms`
        : `${(ms / 1000).toLocaleString('en', { maximumFractionDigits: 1 })} s`,
    clockHelp: 'ahead of the database',
    flowStore: 'Flow store',
    flowStates: { unused: 'Not used yet', up: 'Up', down: 'Down', missing: 'Not installed' },
    loop: 'Loop',
    every: 'Every',
    lastSuccess: 'Last success',
    never: 'Never',
    none: 'No process has reported',
    noneHelp: 'Each process reports itself a few seconds after its start.',
    notInView: 'This process is not in the loaded part of the list.',
  },
} as const
