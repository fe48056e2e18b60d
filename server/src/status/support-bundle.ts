// The state of an installation for its supporters, as one document: settings, state, sizes and counts. It must not
// contain a secret or a row of a customer: each part is read by statements without them, and the text is redacted like
// lines of the log.
import { availableParallelism, freemem, loadavg, release, totalmem } from 'node:os'
import { pendingMigrations } from '../db/migrate.ts'
import type { Db, Postgres } from '../db/postgres.ts'
import { listTableSizes } from '../restore/drill.store.ts'
import type { Config, DescribedSetting } from '../runtime/config.ts'
import { redactedJson, redactText } from '../runtime/log.ts'
import { version } from '../runtime/version.ts'
import { readFigures } from './figures.store.ts'
import { readStatus } from './status.ts'
import {
  countSince,
  listAppliedMigrations,
  listDatabaseSessions,
  listSlowStatements,
  listTableUse,
  readDatabaseServer,
} from './support-bundle.store.ts'

export type SupportDeps = {
  readonly postgres: Postgres
  readonly config: Config
  readonly settings: readonly DescribedSetting[]
  readonly now: () => Date
  /** Texts that must not occur, such as passwords of the settings. */
  readonly secrets: readonly string[]
}

export type SupportBundle = {
  /** JSON. */
  readonly text: string
  /** Parts that could not be read. */
  readonly problems: readonly SupportProblem[]
}

type SupportProblem = { readonly part: string; readonly problem: string }

const bundleFormat = 1
/** All parts together are below 20 MB, even uncompressed. */
const partBytesMax = 1_400_000
const metricsTimeoutMs = 5_000

/** Reads every part, even after a failed one: a bundle is needed most when a part does not answer. */
export async function createSupportBundle(deps: SupportDeps, since: Date): Promise<SupportBundle> {
  const { postgres, config } = deps
  const read =
    <T>(work: (db: Db) => Promise<T>) =>
    () =>
      postgres.owner.transaction().setAccessMode('read only').execute(work)
  const parts: Record<string, () => Promise<unknown>> = {
    host: async () => describeHost(),
    settings: async () => deps.settings,
    server: read(readDatabaseServer),
    migrations: async () => ({
      applied: await read(listAppliedMigrations)(),
      pending: await listPending(postgres),
    }),
    status: () => readStatus(postgres.owner, config),
    queues: () => readFigures(postgres.owner),
    changes: read((db) => countSince(db, since)),
    tables: read(listTableSizes),
    table_use: read(listTableUse),
    sessions: read(listDatabaseSessions),
    slow_statements: read(listSlowStatements),
    metrics: () => readMetrics(config),
  }
  const problems: SupportProblem[] = []
  const texts: string[] = []
  for (const [name, part] of Object.entries(parts)) {
    const text = await printPart(part).catch((error: Error) => {
      problems.push({ part: name, problem: redactText(error.message) })
      return 'null'
    })
    texts.push(`${JSON.stringify(name)}: ${text}`)
  }
  const head = { format: bundleFormat, version, created: deps.now(), since, problems }
  const all = `{${JSON.stringify(head).slice(1, -1)},\n${texts.join(',\n')}}\n`
  return { text: withoutSecrets(all, deps.secrets), problems }
}

async function printPart(read: () => Promise<unknown>): Promise<string> {
  const text = redactedJson(await read()) ?? 'null'
  const bytes = Buffer.byteLength(text)
  if (bytes > partBytesMax) throw new Error(`too large: ${bytes} bytes`)
  return text
}

const describeHost = () => ({
  node: process.version,
  platform: `${process.platform} ${process.arch} ${release()}`,
  cores: availableParallelism(),
  load: loadavg(),
  memory_bytes: totalmem(),
  free_bytes: freemem(),
})

async function listPending(postgres: Postgres): Promise<readonly string[]> {
  const client = await postgres.directConnection()
  try {
    return await pendingMigrations(client)
  } finally {
    await client.end()
  }
}

/** Reads the metrics of the process that listens at the address of the settings, line by line. */
async function readMetrics({ host, port }: Config): Promise<readonly string[]> {
  const name =
    host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host
  const answer = await fetch(`http://${name}:${port}/metrics`, {
    signal: AbortSignal.timeout(metricsTimeoutMs),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${answer.status} ${text.slice(0, 200)}`)
  // The help of a metric is in docs/operating/metrics.md.
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}

/** A shorter secret, such as a password that is a word, would match other text. */
const secretLengthMin = 8

/** A second wall behind the redaction: known secrets are removed in every spelling of JSON. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  const long = secrets.filter(({ length }) => length >= secretLengthMin)
  const spellings = long.flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
  ])
  return [...new Set(spellings)]
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, spelling) => rest.replaceAll(spelling, '[redacted]'), text)
}
