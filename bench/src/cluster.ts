// The bench's PostgreSQL: the embedded server as the product runs it, with all writes synced to the disk, or another
// server by its address. Each benchmark has its own databases in it, which can be kept for the next run.
import { createHash } from 'node:crypto'
import type { Client } from 'pg'
import { startEmbedded } from '../../server/src/db/embedded.ts'
import { listMigrations, migrate, migrationsFolder } from '../../server/src/db/migrate.ts'
import { openPostgres, type Postgres } from '../../server/src/db/postgres.ts'
import { commandOf, parentOf, treeMicros } from './processor-time.ts'

export type Cluster = {
  /** `PostgreSQL 18.4 on ...`. */
  readonly version: string
  /** Microseconds of processor time of all its processes so far; 0 if it runs on another machine. */
  cpuMicros(): number
  /**
   * Returns a migrated database, filled by `seed`: that of an earlier run under this name, if the schema has not
   * changed. If the rows of `seed` change, the name must change too.
   */
  database(name: string, seed: (client: Client) => Promise<void>): Promise<Postgres>
  [Symbol.asyncDispose](): Promise<void>
}

export type ClusterOptions = {
  readonly dataDir: string
  /** Address of another server, as a user who may create databases. */
  readonly databaseUrl?: string | undefined
  readonly report: (text: string) => void
}

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const stack = new AsyncDisposableStack()
  const adminUrl = options.databaseUrl ?? stack.use(await startEmbedded(options)).databaseUrl
  const admin = stack.use(await openPostgres({ databaseUrl: adminUrl, dataDir: '' }))
  const client = await admin.directConnection()
  stack.defer(() => client.end())
  const { rows } = await client.query<{ version: string; pid: number }>(
    'select version(), pg_backend_pid() as pid',
  )
  const [{ version, pid }] = rows as [(typeof rows)[number]]
  const postmaster = commandOf(pid).startsWith('postgres') ? parentOf(pid) : undefined
  return {
    version: version.split(',')[0]!,
    cpuMicros: () => (postmaster === undefined ? 0 : treeMicros(postmaster)),
    database: async (name, seed) => {
      const postgres = await ensureDatabase(client, adminUrl, `bench_${name}_${schemaHash()}`, seed, options)
      return stack.use(postgres)
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

function schemaHash(): string {
  const hash = createHash('sha256')
  for (const { sha256 } of listMigrations(migrationsFolder)) hash.update(sha256)
  return hash.digest('hex').slice(0, 8)
}

/** Renamed when complete, so that an aborted run leaves no database that looks complete. */
async function ensureDatabase(
  admin: Client,
  adminUrl: string,
  name: string,
  seed: (client: Client) => Promise<void>,
  { report }: ClusterOptions,
): Promise<Postgres> {
  const databaseUrl = urlOf(adminUrl, name)
  const found = await admin.query('select from pg_database where datname = $1', [name])
  if (found.rowCount === 0) {
    const start = performance.now()
    await admin.query(`drop database if exists ${name}_new with (force)`)
    await admin.query(`create database ${name}_new`)
    await fill(urlOf(adminUrl, `${name}_new`), seed)
    await admin.query(`alter database ${name}_new rename to ${name}`)
    await admin.query('checkpoint')
    report(`${name} was created in ${((performance.now() - start) / 1000).toFixed(1)} s`)
  }
  return openPostgres({ databaseUrl, dataDir: '' })
}

async function fill(databaseUrl: string, seed: (client: Client) => Promise<void>): Promise<void> {
  await using postgres = await openPostgres({ databaseUrl, dataDir: '' })
  const client = await postgres.directConnection()
  try {
    await migrate(client)
    await seed(client)
    await client.query('vacuum (analyze)')
  } finally {
    await client.end()
  }
}

function urlOf(adminUrl: string, database: string): string {
  return Object.assign(new URL(adminUrl), { pathname: `/${database}` }).href
}
