// `pharos start`: migrates the database of the demo, fills it once, and serves all roles, on loopback only.
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { ingestDeliveries } from '../../server/src/events/ingest/ingest.ts'
import type { Postgres } from '../../server/src/db/postgres.ts'
import { liveTraffic } from '../../server/src/drivers/sandbox-device/live-traffic.ts'
import { closePeriods } from '../../server/src/inventory/bill/close-period.ts'
import { createOwnershipCache } from '../../server/src/inventory/holding/ownership.ts'
import { createDeviceCollector, type DevicesDeps } from '../../server/src/inventory/parts.ts'
import { openDatabase, type Serving } from '../../server/src/process/serve.ts'
import { allRoles } from '../../server/src/runtime/role.ts'
import { isLoopback } from '../../server/src/net/loopback.ts'
import type { ClaimedReport } from '../../server/src/report/mailed-report.store.ts'
import type { Config, Environment } from '../../server/src/runtime/config.ts'
import { createLog, type Log } from '../../server/src/runtime/log.ts'
import { describeConfiguration } from '../../server/src/commands/configuration.ts'
import { demoAccounts, demoFile, prepareDemo } from './demo.ts'
import { replayDemoAlerts } from './demo-alerts.ts'
import { releaseReport } from './demo-report.ts'
import { addGaugeHistory } from './gauge-history.ts'
import { checkPort, replaceTakenPorts } from './listeners.ts'
import {
  addBilledDays,
  addPortHistory,
  addStateChanges,
  listNewPorts,
  type DemoPort,
  type HistoryOptions,
} from './port-history.ts'
import { buildPortal } from '../../server/src/commands/portal-build.ts'
import { createProgress } from './progress.ts'
import { listAttacks } from './traffic/attacks.store.ts'
import { historyStart } from './traffic/flow-history.ts'
import type { DemoAttack } from './traffic/model.ts'
import { runDemoTraffic } from './traffic/traffic.ts'
import { CommandFailure, emptyDataDir, type CommandContext } from '../../server/src/commands/command.ts'
import { acceptOption, checkKeyFile, checkKeys, reportLost } from '../../server/src/commands/lost-keys.ts'
import { migrateSchema } from '../../server/src/commands/migrate.ts'
import { serveUntilStopped } from '../../server/src/commands/serve.ts'

const options = {
  quiet: { type: 'boolean' },
  'no-traffic': { type: 'boolean' },
  'no-portal': { type: 'boolean' },
  ...acceptOption,
} as const

export async function startDemo(context: CommandContext): Promise<void> {
  const { values } = parseArgs({ args: [...context.args], options })
  const isAccepted = values['accept-lost-secrets']
  const say = values.quiet ? () => {} : (text: string) => context.out(`${secondsSinceStart()}  ${text}\n`)
  const { config, lost } = await configure(context, say, isAccepted)
  await checkPort(config)
  const portal = values['no-portal'] ? Promise.resolve() : buildPortal()
  // Its failure is thrown where the result is awaited.
  portal.catch(() => {})
  const log = createLog(config)
  reportLost(log, lost)
  say('Starting the database')
  const postgres = await openDatabase(config, log)
  let report: ClaimedReport | undefined
  let ports: readonly DemoPort[] = []
  let attacks: readonly DemoAttack[] = []
  try {
    say('Creating the tables')
    await migrateSchema(postgres, { steps: config.databaseUrl === null ? 'all' : 'expand' })
    await checkKeys(postgres.owner, config.secret, { isAccepted, log })
    say('Loading the demo: teams, announcements, zones, attacks of 30 days')
    report = await prepareDemo(postgres, config, new Date())
    if (!values['no-traffic']) {
      // Before the first reading, so that the counters do not start again.
      liveTraffic.begin(Date.now())
      say('Adding the traffic of the billed month')
      const now = new Date()
      // Counters of ports contain the attacks.
      await ingestDeliveries(postgres, createOwnershipCache())
      attacks = await listAttacks(postgres.owner, new Date(historyStart(now.getTime())))
      ports = await listNewPorts(postgres.owner, now)
      await billLastMonth({ postgres, config, log }, { ports, attacks, now })
    }
    say('Waiting for the portal')
    await portal
  } catch (error) {
    await postgres.stop()
    throw error
  }
  say('Starting the server')
  await serveUntilStopped(config, postgres, allRoles, log, (serving, stopping) => {
    if (!values.quiet) context.out(welcome(serving.url!, config))
    // Flows and the past year take most of the processor time of the first minute, and not everyone looks at them.
    if (values['no-traffic']) return
    const past = { config, postgres, log, serving, stopping, say, ports, attacks }
    void addPast(past)
      .then(() => report && releaseReport(postgres.owner, report))
      .catch((error: unknown) => {
        if (!stopping.aborted) log.warn({ err: error }, 'monthly report not released')
      })
  })
}

/** A person watches the demo: readable lines, and only warnings, unless the settings override it. */
async function configure(context: CommandContext, say: (text: string) => void, isAccepted: boolean) {
  const env = { ...demoSettings, ...context.env, PHAROS_DEMO: 'true' }
  // Before the configuration is read, which creates the secret in the data directory.
  emptyDataDir(env)
  const lost = await checkKeyFile(env, { isAccepted })
  const replaced = await replaceTakenPorts(describeConfiguration(env))
  for (const [variable, address] of Object.entries(replaced))
    say(`The usual port of ${variable} is in use: it is ${address} now`)
  const config = withMailFolder(context, { ...env, ...replaced })
  if (isLoopback(config.host)) return { config, lost }
  throw new CommandFailure(
    `The demo accounts have published passwords, so the demo does not listen on ${config.host}. ` +
      'Unset PHAROS_HOST, or use pharos serve with a platform file of your own.',
  )
}

/**
 * The whole month must be stored before it is closed, because bills do not change afterwards. Interfaces have to be
 * known, such as members of a LAG.
 */
async function billLastMonth(
  deps: DevicesDeps,
  { ports, attacks, now }: Pick<Past, 'ports' | 'attacks'> & { readonly now: Date },
): Promise<void> {
  const { postgres } = deps
  const devices = createDeviceCollector(deps)
  await devices.startDue()
  await devices.settle()
  await devices.stop()
  await addStateChanges(postgres.owner, ports)
  await addBilledDays(postgres.owner, ports, attacks, now)
  await closePeriods(postgres, now, new AbortController().signal, { isMeasured: true, months: 1 })
}

type OnProgress = HistoryOptions['onProgress']

type Past = {
  readonly config: Config
  readonly postgres: Postgres
  readonly log: Log
  readonly serving: Serving
  readonly stopping: AbortSignal
  readonly say: (text: string) => void
  readonly ports: readonly DemoPort[]
  readonly attacks: readonly DemoAttack[]
}

/** Adds the past, which takes a minute while everything else works. Resolves when all of it is there. */
async function addPast({
  config,
  postgres,
  log,
  serving,
  stopping,
  say,
  ports,
  attacks,
}: Past): Promise<void> {
  const now = new Date()
  const [onFlows, onPorts, onGauges] = createProgress(3, (percent) =>
    say(`Past traffic and light levels: ${percent} %`),
  ) as [OnProgress, OnProgress, OnProgress]
  const flows = Promise.withResolvers<void>()
  const traffic = {
    postgres,
    store: serving.flowStore,
    addressFiles: config.flowAddressFiles,
    addresses: serving.flows,
    log,
    onProgress(share: number) {
      onFlows(share)
      if (share === 1) flows.resolve()
    },
  }
  void runDemoTraffic(traffic, stopping).catch((error: unknown) => {
    if (!stopping.aborted) log.warn({ err: error }, 'the demo has no flows')
  })
  try {
    await addPortHistory(postgres.owner, ports, attacks, { now, signal: stopping, onProgress: onPorts })
    if (!stopping.aborted) await closePeriods(postgres, now, stopping, { isMeasured: true })
    await addGaugeHistory(postgres.owner, { now, signal: stopping, onProgress: onGauges })
    if (ports.length > 0) await replayDemoAlerts(postgres.owner, now)
  } catch (error) {
    if (!stopping.aborted) log.warn({ err: error }, 'traffic and light levels of the past year not added')
  }
  await flows.promise
}

/** Seconds since the start of the process. */
const secondsSinceStart = (): string => `${(performance.now() / 1000).toFixed(1).padStart(5)} s`

/**
 * The registries of the demo are two files: edit them while it runs, and watch the checks. The route collectors are simulated; a
 * few of them never lose the route of one prefix.
 */
const demoSettings = {
  PHAROS_LOG_FORMAT: 'text',
  PHAROS_LOG_LEVEL: 'warn',
  PHAROS_RPKI_SOURCES: pathToFileURL(demoFile('vrps.json')).href,
  PHAROS_IRR_SOURCES: pathToFileURL(demoFile('routes.rpsl')).href,
  PHAROS_VISIBILITY_SOURCES: 'sandbox:300?stuck=198.18.64.0/23',
  PHAROS_ALLOW_DOCUMENTATION_RESOURCES: 'true',
  PHAROS_DNS_NETWORKS_ALLOWED: '127.0.0.0/8,::1,192.0.2.0/24,198.51.100.0/24,203.0.113.0/24,2001:db8::/32',
  // As long as the report of last month needs flows.
  PHAROS_FLOW_RETENTION_DAYS: '62',
  PHAROS_FLOW_ADDRESS_FILES: demoFile('addresses.csv'),
  PHAROS_PROVIDER_NAME: 'Example Transit',
  PHAROS_MAIL_FROM: 'Example Transit <noc@example.net>',
  PHAROS_PROVIDER_ASN: '64500',
  // Ctrl-C ends it immediately.
  PHAROS_DRAIN_SECONDS: '0',
}

/** Mails are written to the data directory instead of being sent, unless the settings override it. */
function withMailFolder(context: CommandContext, env: Environment): Config {
  const config = context.config(env)
  if (config.mailUrl !== null || config.mailFolder !== null) return config
  return context.config({ ...env, PHAROS_MAIL_FOLDER: join(config.dataDir, 'mails') })
}

function welcome(url: string, { mailFolder, dnsListen }: Config): string {
  const accounts = demoAccounts
    .map(({ email, description }) => `  ${email.padEnd(22)} ${description}`)
    .join('\n')
  return `
Pharos is running the demo platform.

  ${url}            the portal
  ${url}/docs       the API, to read and to try
${mailFolder === null ? '' : `\nMails are written to ${resolve(mailFolder)} and not sent.\n`}
Accounts, all with the password pharos-demo-password:
${accounts}

Try:
  curl -s ${url}/v3/session/token -H 'Content-Type: application/json' \\
    -d '{"email":"demo@demo.example","password":"pharos-demo-password"}'
  access=...   # "access" of the answer; expires after five minutes
  curl -s "${url}/v3/lighthouse/security/events/related?ordering=-affected_bps&limit=3" -H "Authorization: Bearer $access"
  curl -s "${url}/v3/ipam/announcements?limit=5" -H "Authorization: Bearer $access"

  dig @127.0.0.1 -p ${dnsListen.split(':').at(-1)} harbor.example MX

The README continues from here. Stop with Ctrl-C; the data is kept.

Ready: ${url} sign in as ${demoAccounts[0]!.email} with the password pharos-demo-password
`
}
