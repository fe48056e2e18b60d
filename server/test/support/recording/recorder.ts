// Calls operations on an installation with a fixed clock, and records each request with its answer as the example of the operation. The same calls
// give the same bytes: times are set by the caller, ids count from given numbers, and values from random bytes are replaced.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import { dryRunMediaType } from '@pharos/contract/answers'
import { urlOf } from '@pharos/contract/client'
import type { Example } from '@pharos/contract/example'
import { admin, employee, engineer, team } from '@pharos/contract/examples/world'
import type { ResponseOf, Route } from '@pharos/contract/route'
import { sql } from 'kysely'
import { listMigrations, migrationsFolder } from '../../../src/db/migrate.ts'
import { openPostgres, type Db } from '../../../src/db/postgres.ts'
import { createTestDatabase } from '../../../src/db/testing.ts'
import { createKeyRing } from '../../../src/runtime/secrets.ts'
import { hashPassword } from '../../../src/session/password.ts'
import { createTestApi, testPassword, type TestApi } from '../../api.ts'
import { openSession } from '../credentials.ts'
import { formOf, formType, type FormPart } from '../letters.ts'

/** The parts of a request that are not recorded. */
export type Request = {
  /** The file of a form. */
  readonly file?: FormPart
  /** Such as the credential of another caller. */
  readonly headers?: Readonly<Record<string, string>>
  readonly remoteAddress?: string
}

export type Recorder = {
  readonly api: TestApi
  readonly owner: Db
  readonly examples: Readonly<Record<string, Example>>
  /** Sets the clock of the server and of the database. */
  at(time: string): Promise<void>
  /** Calls the operation as an admin of the team, or as staff if it needs staff, and returns the body of the answer. */
  call<R extends Route>(route: R, parts?: Example<R>, request?: Request): Promise<ResponseOf<R>>
  /** Calls the operation and records it; an operation with a dry run or a validation is called with it before. */
  record<R extends Route>(route: R, parts?: Example<R>, request?: Request): Promise<ResponseOf<R>>
  /** Replaces a text that is random by another one in everything that is recorded. */
  replace(random: string, text: string): void
  /** The next row of the table gets this id. */
  nextId(table: string, id: number): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** The team of the provider's employees. */
const providerId = 1

type FieldChanges = NonNullable<Example['changes']>

/** now() of the schema public precedes that of PostgreSQL: in defaults, and in the statements of the server. */
const clock = `
create table public.recorded_clock (at timestamptz not null);
insert into public.recorded_clock values ('2026-03-01T00:00:00Z');
create function public.now() returns timestamptz language sql stable security definer as 'select at from public.recorded_clock';
set search_path = public, pg_catalog;
`

/** The keys of the installation: what is derived from them has the same bytes in each recording. */
export const recordingKeys = createKeyRing(['0'.repeat(64)])

/** `settings` are those of `createTestApi`. */
export async function createRecorder(settings: Record<string, string> = {}): Promise<Recorder> {
  const database = await createDatabase()
  const first = { database, config: { secret: recordingKeys } } as unknown as TestApi
  mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-03-01T00:00:00Z') })
  const api = await createTestApi(settings, { sameInstallationAs: first })
  const { owner } = database.postgres
  const examples: Record<string, Example> = {}
  const replaced = new Map<string, string>()
  await addTeam(owner)
  let access: Partial<Record<'admin' | 'staff', string>> = {}

  const at = async (time: string): Promise<void> => {
    mock.timers.setTime(Date.parse(time))
    await sql`update recorded_clock set at = ${time}`.execute(owner)
    // Otherwise a timer of real time replaces keys that are too old at the new time.
    await api.signingKeys.refresh()
    access = {}
  }

  const openAccess = async (user: 'admin' | 'staff'): Promise<string> => {
    const [userId, teamId] = user === 'admin' ? [admin.id, team.id] : [employee.id, providerId]
    const session = await openSession(api, userId, teamId)
    await sql`update sessions set second_factor = true`.execute(owner)
    return (access[user] = session.access)
  }

  /** A token is valid for some minutes, so that each time needs a session of its own. */
  const credentialOf = async (route: Route): Promise<Record<string, string>> => {
    if (isAnonymous(route)) return {}
    const user = isOfStaff(route) ? 'staff' : 'admin'
    return { authorization: `Bearer ${access[user] ?? (await openAccess(user))}` }
  }

  const send = async (
    route: Route,
    { params, query, body, fields }: Example,
    { file, headers = {}, remoteAddress = '192.0.2.33' }: Request,
    isTrial = false,
  ): Promise<unknown> => {
    const answer = await api.server.inject({
      method: route.method,
      url: urlOf(route, { ...(params as object) }, { ...query, ...(isTrial ? { dry_run: true } : {}) }),
      headers: {
        ...('authorization' in headers ? {} : await credentialOf(route)),
        ...(isTrial ? { accept: dryRunMediaType } : {}),
        ...(file ? { 'content-type': formType } : {}),
        ...headers,
      },
      remoteAddress,
      ...(file ? { payload: formOf([...partsOf(fields ?? {}), file]) } : {}),
      ...(body === undefined ? {} : { payload: body as object }),
    })
    if (answer.statusCode >= 300) throw new Error(`${route.name}: ${answer.statusCode} ${answer.body}`)
    const isJson = answer.headers['content-type']?.toString().includes('json') ?? false
    return isJson && answer.body !== '' ? answer.json() : undefined
  }

  return {
    api,
    owner,
    get examples() {
      return JSON.parse(
        // The text of a token contains its id.
        [...replaced]
          .toSorted(([a], [b]) => b.length - a.length)
          .reduce((text, [random, other]) => text.replaceAll(random, other), JSON.stringify(examples)),
      ) as Record<string, Example>
    },
    at,
    call: async <R extends Route>(route: R, parts: Example<R> = {}, request: Request = {}) =>
      (await send(route, parts as unknown as Example, request)) as ResponseOf<R>,
    async record<R extends Route>(route: R, given: Example<R> = {}, request: Request = {}) {
      const parts = given as unknown as Example
      if (route.name in examples) throw new Error(`${route.name} is recorded twice`)
      const trial = route.dryRun
        ? await keepingIds(owner, () => send(route, parts, request, true))
        : undefined
      const validation = route.trial
        ? await send(route, { ...parts, query: { ...parts.query, validate: true } }, request)
        : undefined
      const response = await send(route, parts, request)
      examples[route.name] = {
        ...parts,
        ...(route.response === null ? {} : { response }),
        ...(validation === undefined ? {} : { trial: validation }),
        ...(trial === undefined ? {} : { changes: (trial as { changes: FieldChanges }).changes }),
      } as Example
      return response as ResponseOf<R>
    },
    replace: (random, text) => void replaced.set(random, text),
    nextId: async (table, id) => {
      await sql`select setval(pg_get_serial_sequence(${table}, 'id'), ${id - 1})`.execute(owner)
    },
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]()
      mock.timers.reset()
      await database.postgres.stop()
      await database.dispose()
    },
  }
}

/** A letter of authorization as PDF. */
export const letterFile = (filename: string): FormPart => ({
  name: 'file',
  filename,
  type: 'application/pdf',
  content: readFileSync(new URL('../../../src/byoip/letter/fixtures/libreoffice.pdf', import.meta.url)),
})

const isAnonymous = ({ permission }: Route): boolean =>
  permission.credential === 'none' || permission.credential === 'optional'

const isOfStaff = ({ permission }: Route): boolean => 'role' in permission && permission.role === 'staff'

/** Returns the text fields of a form; a list is one part for each value. */
const partsOf = (fields: object): FormPart[] =>
  Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((content: unknown) => ({ name, content: String(content) })),
  )

/** A trial is rolled back, but not the ids that it has used. */
async function keepingIds<T>(owner: Db, work: () => Promise<T>): Promise<T> {
  const { rows } = await sql`
    select quote_ident(sequencename) as name, coalesce(last_value, start_value) as value, last_value is not null as is_used
    from pg_sequences where schemaname = 'public'`.execute(owner)
  const result = await work()
  await sql`
    select setval(name::regclass, value, is_used)
    from json_to_recordset(${JSON.stringify(rows)}) as s (name text, value bigint, is_used boolean)`.execute(
    owner,
  )
  return result
}

/** A database whose connections see `now()` of the clock. */
async function createDatabase() {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-recording-'))
  cpSync(migrationsFolder, folder, { recursive: true })
  const first = join(folder, listMigrations(folder)[0]!.file)
  writeFileSync(first, clock + readFileSync(first, 'utf8'))
  const database = await createTestDatabase({ migrations: folder })
  rmSync(folder, { recursive: true })
  const { owner } = database.postgres
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(owner)
  await sql`alter database ${sql.ref(rows[0]!.name)} set search_path = public, pg_catalog`.execute(owner)
  await sql`grant select on recorded_clock to pharos_tenant`.execute(owner)
  // Connections that are open do not have the setting.
  await database.postgres.stop()
  const postgres = await openPostgres({ databaseUrl: database.databaseUrl, dataDir: '' })
  return {
    databaseUrl: database.databaseUrl,
    postgres,
    dataDir: undefined,
    dispose: () => database[Symbol.asyncDispose](),
  }
}

async function addTeam(owner: Db): Promise<void> {
  await sql`
    insert into teams (id, slug, name, enabled_modules, enable_dns) overriding system value
    values (${team.id}, 'lindholm', ${team.name}, '{inventory,ipam,lighthouse,shield,dns}', true),
      (${providerId}, 'example-net', 'Example Net', '{}', false)`.execute(owner)
  const hash = await hashPassword(testPassword)
  for (const [{ id, email, name }, role] of [
    [admin, 'admin'],
    [engineer, 'editor'],
    [employee, 'staff'],
  ] as const) {
    const [first, last] = name.split(' ')
    await sql`
      insert into users (id, email, username, display_name, first_name, last_name, password_hash, email_confirmed, is_staff)
      overriding system value
      values (${id}, ${email}, ${first!.toLowerCase()}, ${name}, ${first}, ${last}, ${hash}, now(), ${role === 'staff'})`.execute(
      owner,
    )
    await sql`
      insert into memberships (team_id, user_id, is_admin, roles)
      values (${role === 'staff' ? providerId : team.id}, ${id}, ${role === 'admin'}, ${[role === 'staff' ? 'reader' : role]})`.execute(
      owner,
    )
  }
}
