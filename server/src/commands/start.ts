// `pharos start`: the demo platform, ready to try: migrated, filled once, served in all roles, on loopback only.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import type { Postgres } from '../db/postgres.ts'
import { closePeriods } from '../inventory/bill/close-period.ts'
import { openDatabase, allRoles } from '../roles/serve.ts'
import { isLoopback } from '../net/loopback.ts'
import type { Claim } from '../report/mailed-report.store.ts'
import type { Config, Environment } from '../runtime/config.ts'
import { createLog } from '../runtime/log.ts'
import { demoAccounts, demoFile, prepareDemo } from './demo/demo.ts'
import { releaseReport } from './demo/demo-report.ts'
import { addGaugeHistory } from './demo/gauge-history.ts'
import { addPortHistory } from './demo/port-history.ts'
import { runDemoTraffic } from './demo/traffic/traffic.ts'
import { CommandFailure, emptyDataDir, type Command, type CommandContext } from './command.ts'
import { migrateSchema } from './migrate.ts'
import { serveUntilStopped } from './serve.ts'

export const start: Command = {
  name: 'start',
  usage: '[--quiet] [--no-traffic]',
  summary: 'run the demo platform on loopback',
  async run(context) {
    const { values } = parseArgs({
      args: [...context.args],
      options: { quiet: { type: 'boolean' }, 'no-traffic': { type: 'boolean' } },
    })
    // A person watches the demo: readable lines, and only warnings, unless the settings override it.
    const env = { ...demoSettings, ...(await freeFlowAddresses()), ...context.env, PHAROS_DEMO: 'true' }
    // Before the configuration is read, which creates the secret in the data directory.
    emptyDataDir(env)
    const config = withMailFolder(context, env)
    if (!isLoopback(config.host)) {
      throw new CommandFailure(
        `The demo accounts have published passwords, so the demo does not listen on ${config.host}. ` +
          'Unset PHAROS_HOST, or use pharos serve with a platform file of your own.',
      )
    }
    const log = createLog(config)
    const postgres = await openDatabase(config, log)
    let report: Claim | undefined
    try {
      await migrateSchema(postgres)
      report = await prepareDemo(postgres, config, new Date())
    } catch (error) {
      await postgres.stop()
      throw error
    }
    await serveUntilStopped(config, postgres, allRoles, log, (serving, stopping) => {
      if (!values.quiet) context.out(welcome(serving.url!, config))
      // Flows and the past year are 36 of 42 s of processor time in the first minute, and not everyone looks at them.
      if (values['no-traffic']) return
      const flowHistory = Promise.withResolvers<void>()
      const traffic = {
        postgres,
        store: serving.flowStore,
        addressFiles: config.flowAddressFiles,
        addresses: serving.flows,
        log,
        onHistory: flowHistory.resolve,
      }
      void runDemoTraffic(traffic, stopping).catch((error: unknown) => {
        if (!stopping.aborted) log.warn({ err: error }, 'the demo has no flows')
      })
      // It takes a minute, and everything else works meanwhile.
      const history = addHistory(postgres, new Date(), stopping).catch((error: unknown) => {
        if (!stopping.aborted) log.warn({ err: error }, 'traffic and light levels of the past year not added')
      })
      void Promise.all([flowHistory.promise, history])
        .then(() => report && releaseReport(postgres.owner, report))
        .catch((error: unknown) => {
          if (!stopping.aborted) log.warn({ err: error }, 'the report of last month waits')
        })
    })
  },
}

/** Months are closed when all of their traffic is there: nothing changes them afterwards. */
async function addHistory(postgres: Postgres, now: Date, signal: AbortSignal): Promise<void> {
  await addPortHistory(postgres.owner, now, signal)
  if (!signal.aborted) await closePeriods(postgres, now, signal, { isMeasured: true })
  await addGaugeHistory(postgres.owner, now, signal)
}

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
  // As long as the report of last month needs them.
  PHAROS_FLOW_RETENTION_DAYS: '62',
  PHAROS_FLOW_ADDRESS_FILES: demoFile('addresses.csv'),
  PHAROS_PROVIDER_NAME: 'Example Net',
  PHAROS_PROVIDER_ASN: '64500',
}

/** A second demo on this machine, or a collector, has the usual ports: then any other. The demo's exporters find it. */
async function freeFlowAddresses(): Promise<Environment> {
  const usual = { PHAROS_NETFLOW_LISTEN: 2055, PHAROS_SFLOW_LISTEN: 6343 }
  const found = Object.entries(usual).map(
    async ([name, port]) => [name, `127.0.0.1:${(await isFree(port)) ? port : 0}`] as const,
  )
  return Object.fromEntries(await Promise.all(found))
}

async function isFree(port: number): Promise<boolean> {
  const socket = createSocket('udp4')
  socket.bind(port, '127.0.0.1')
  const result = await once(socket, 'listening').then(
    () => true,
    () => false,
  )
  socket.close()
  return result
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
`
}
