// The whole API in one process on a separate database, for tests over HTTP. Without mocks: requests use Fastify's
// inject instead of a socket, unless a test listens.
import type { Role } from '@pharos/contract/role'
import type { StaffRole } from '@pharos/contract/staff-role'
import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { FlowStore } from '../src/flow/flow-store.ts'
import { openPostgres } from '../src/db/postgres.ts'
import { createTestDatabase, type TestDatabase, type TestDatabaseOptions } from '../src/db/testing.ts'
import { createWaker, type Waker } from '../src/db/wake.ts'
import { lazyTestFlowStore } from '../src/drivers/clickhouse/testing.ts'
import { createApi } from '../src/process/api.ts'
import { createShared, type Shared } from '../src/process/shared.ts'
import { createRegistryViews } from '../src/registry/parts.ts'
import { loadConfig, type Config } from '../src/runtime/config.ts'
import { createPostResponseTasks } from '../src/runtime/post-response-tasks.ts'
import { createLog, type Log } from '../src/runtime/log.ts'
import { createMetrics } from '../src/runtime/metrics.ts'
import { hashPassword } from '../src/session/password.ts'
import { SigningKeys } from '../src/session/signing-keys.ts'
import { openGate } from '../src/runtime/testing-gate.ts'

export type TestApi = {
  readonly server: FastifyInstance
  readonly database: TestDatabase
  readonly config: Config
  readonly waker: Waker
  readonly signingKeys: SigningKeys
  /** For parts of other roles beside the API. */
  readonly shared: Shared
  /** Signs a user in and returns the tokens. */
  signIn(email: string): Promise<{ access: string; refresh: string }>
  /** Resolves when all post-response tasks have finished. */
  settled(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export const testPassword = 'a-password-for-tests'

export type TestApiOptions = TestDatabaseOptions & {
  /** Another API on the same database with the same secret: a second process of one installation. */
  readonly sameInstallationAs?: TestApi
  /** Returns the database URL for the API, for example of a proxy; the test itself connects directly. */
  readonly through?: (databaseUrl: string) => string
  /** Replaces the log of the settings, which is silent. */
  readonly log?: Log
  /** Replaces the flow store, which is an empty ClickHouse that its first use starts. */
  readonly flowStore?: FlowStore
}

/** `settings` are variables such as `PHAROS_RATE_LIMIT_PER_SECOND`. */
export async function createTestApi(
  settings: Record<string, string> = {},
  {
    sameInstallationAs: first,
    through,
    log: given,
    flowStore = lazyTestFlowStore(),
    ...options
  }: TestApiOptions = {},
): Promise<TestApi> {
  const database = first?.database ?? (await createTestDatabase(options))
  const loaded = loadConfig(
    {
      PHAROS_SECRET: randomBytes(32).toString('hex'),
      PHAROS_LOG_LEVEL: 'silent',
      PHAROS_RATE_LIMIT_PER_SECOND: '100000',
      PHAROS_RATE_LIMIT_BURST: '1000000',
      PHAROS_DELIVERY_LIMIT_PER_SECOND: '100000',
      PHAROS_SIGN_IN_LIMIT_PER_MINUTE: '10000',
      PHAROS_ACCOUNT_MAILS_PER_HOUR: '1000000',
      PHAROS_ALLOW_DOCUMENTATION_RESOURCES: 'true',
      PHAROS_DNS_PORTS_ALLOWED: '1-65535',
      PHAROS_DNS_NETWORKS_ALLOWED:
        '127.0.0.0/8,::1,192.0.2.0/24,198.51.100.0/24,203.0.113.0/24,2001:db8::/32',
      PHAROS_PROVIDER_NAME: 'Example Net',
      PHAROS_PROVIDER_ASN: '64500',
      PHAROS_ANNOUNCEMENTS_PER_TEAM: '100000',
      PHAROS_CHECK_REQUESTS_PER_MINUTE: '100000',
      PHAROS_WEBHOOK_TESTS_PER_MINUTE: '100000',
      PHAROS_WEBHOOKS_PER_TEAM: '100000',
      // A closed port: tests without DNS make no DNS queries.
      PHAROS_DNS_RESOLVERS: '127.0.0.1:1',
      PHAROS_MEMBERS_PER_TEAM: '100000',
      PHAROS_INVITATIONS_PER_HOUR: '1000000',
      PHAROS_INVITATION_INTERVAL_SECONDS: '1',
      // inject() only returns when the response has ended, so streams end immediately.
      PHAROS_STREAM_LIFETIME_SECONDS: '0',
      // On a busy machine a request may take longer than the 30 s of the product.
      PHAROS_HANDLER_TIMEOUT_SECONDS: '300',
      ...settings,
    },
    { read: () => undefined, mode: () => 0o600, create: () => {} },
  )
  const config = first ? { ...loaded, secret: first.config.secret } : loaded
  const postgres = through
    ? await openPostgres({ databaseUrl: through(database.databaseUrl), dataDir: '' })
    : database.postgres
  const waker = createWaker(postgres)
  await waker.start()
  const signingKeys = new SigningKeys(postgres.front, config.secret, () => {})
  await signingKeys.start()
  const log = given ?? createLog(config)
  const metrics = createMetrics()
  const views = createRegistryViews(config, log, metrics)
  await views.rpki.start?.()
  await views.irr.start?.()
  const tasks = createPostResponseTasks(1_000, () => {})
  const shared = createShared({
    draining: new AbortController().signal,
    config,
    postgres,
    waker,
    log,
    metrics,
    ...views,
    flowStore,
    gate: openGate,
  })
  const server = createApi({ ...shared, tasks, signingKeys })
  await server.ready()
  return {
    server,
    database,
    config,
    waker,
    signingKeys,
    shared,
    settled: () => tasks.settled(),
    async signIn(email) {
      const response = await server.inject({
        method: 'POST',
        url: '/v3/session/token',
        payload: { email, password: testPassword },
      })
      if (response.statusCode !== 200) throw new Error(`sign-in of ${email}: ${response.body}`)
      return response.json()
    },
    async [Symbol.asyncDispose]() {
      await server.close()
      await flowStore.close()
      await views.rpki.stop?.()
      await views.irr.stop?.()
      signingKeys.stop()
      await waker.stop()
      if (through) await postgres.stop()
      if (!first) await database[Symbol.asyncDispose]()
    },
  }
}

let hash: Promise<string> | undefined

export type TestTeam = { readonly teamId: number; readonly slug: string }

/** Creates a team with every module. */
export async function addTeam(
  { database }: TestApi,
  slug: string,
  modules = ['inventory', 'ipam', 'lighthouse', 'shield', 'dns'],
): Promise<TestTeam> {
  const { id } = await database.postgres.owner
    .insertInto('teams')
    .values({ slug, name: `Team ${slug}`, enabled_modules: modules, enable_dns: true })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { teamId: id, slug }
}

/** Creates a confirmed user `<name>@<team>.example` with the test password, member of the teams. */
export async function addUser(
  { database }: TestApi,
  name: string,
  teams: readonly TestTeam[],
  flags: {
    admin?: boolean
    roles?: readonly Role[]
    /** `true`: as the release before wrote it, which is the role admin. */
    staff?: boolean | readonly StaffRole[]
    demo?: boolean
    unconfirmed?: boolean
  } = {},
): Promise<{ userId: number; email: string }> {
  const email = `${name}@${teams[0]?.slug ?? 'nowhere'}.example`
  const { owner } = database.postgres
  const { id } = await owner
    .insertInto('users')
    .values({
      email,
      username: name,
      password_hash: await (hash ??= hashPassword(testPassword)),
      email_confirmed: flags.unconfirmed ? null : new Date(),
      is_staff: Boolean(flags.staff),
      staff_roles: Array.isArray(flags.staff) ? [...flags.staff] : null,
      is_demo: flags.demo ?? false,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const roles: Role[] = [...(flags.roles ?? [flags.admin ? 'admin' : 'editor'])]
  for (const { teamId } of teams) {
    await owner
      .insertInto('memberships')
      .values({ team_id: teamId, user_id: id, is_admin: roles.includes('admin'), roles })
      .execute()
  }
  return { userId: id, email }
}
