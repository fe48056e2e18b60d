// The statements of every list of a team, with generated rows in the tables that they read: for their plans, and for their cost
// with the number of rows.
import { urlOf } from '@pharos/contract/client'
import { groupDevicesRoute } from '@pharos/contract/inventory/device'
import type { Route } from '@pharos/contract/route'
import { routes } from '@pharos/contract/document/routes'
import { isPage } from '@pharos/contract/scalar'
import { sql } from 'kysely'
import type { Trx } from '../../src/db/postgres.ts'
import { TeamReader } from '../../src/db/team-reader.ts'
import { addTeam, addUser, createTestApi, type TestApi } from '../api.ts'
import { openSession } from './credentials.ts'
import { addGeneratedRows, dropRules, listTables, type TableShape } from './generated-rows.ts'

export type Statement = { readonly sql: string; readonly parameters: readonly unknown[] }

export type Lists = AsyncDisposable & {
  readonly api: TestApi
  readonly teamId: number
  /** Adds rows `first` to `last` to every table of the team. */
  addRows(first: number, last: number): Promise<void>
  /** Returns the statements of one request for a page of this list. */
  statementsOf(route: Route, limit: number): Promise<Statement[]>
}

/** Tables of the caller. */
const kept = new Set(['teams', 'users', 'memberships', 'sessions', 'idempotency_keys'])

export const lists: readonly Route[] = [
  ...routes.filter(
    ({ response, query, path }) =>
      isPage(response) && 'limit' in query.properties && !path.startsWith('/v3/admin'),
  ),
  groupDevicesRoute,
]

/** The row that paths name. */
export const chosen = 20

/** Starts an API on a database of its own without constraints. */
export async function openLists(): Promise<Lists> {
  await using stack = new AsyncDisposableStack()
  const api = stack.use(await createTestApi({ PHAROS_RATE_LIMIT_PER_SECOND: '1000' }))
  const { owner } = api.database.postgres
  const team = await addTeam(api, 'red')
  const { userId } = await addUser(api, 'ann', [team], { admin: true })
  const { access } = await openSession(api, userId, team.teamId)
  const tables = (await listTables(owner)).filter(
    ({ name, policies }) => policies.length > 0 && !kept.has(name),
  )
  await dropRules(owner, tables)
  const owned = stack.move()
  return {
    api,
    teamId: team.teamId,
    addRows: (first, last) =>
      owner.transaction().execute((trx) => addRows(trx, tables, { first, last, team: team.teamId })),
    statementsOf: (route, limit) => statementsOf(api, `Bearer ${access}`, route, limit),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Half of the devices are of the provider, and ports have interfaces. */
async function addRows(
  trx: Trx,
  tables: readonly TableShape[],
  rows: { readonly first: number; readonly last: number; readonly team: number },
): Promise<void> {
  for (const table of tables) await addGeneratedRows(trx, table, rows)
  const { first, last } = rows
  await sql`update devices set customer_id = null where id % 2 = 0 and id between ${first} and ${last}`.execute(
    trx,
  )
  await sql`update ports set interface_id = id where id between ${first} and ${last}`.execute(trx)
  await sql`update interfaces set lag_id = id - 1 where id % 3 = 0 and id between ${first} and ${last}`.execute(
    trx,
  )
}

async function statementsOf(
  api: TestApi,
  authorization: string,
  route: Route,
  limit: number,
): Promise<Statement[]> {
  const query = {
    ...('limit' in route.query.properties && { limit }),
    ...(route === groupDevicesRoute && { by: 'location,role,vendor,status,tag', role: ['x'] }),
    ...('cidr' in route.query.properties && { cidr: ['192.0.0.0/16'] }),
  }
  const names = Object.keys(route.params.properties)
  const params = Object.fromEntries(names.map((name) => [name, name === 'team_id' ? 'current' : chosen]))
  const statements: Statement[] = []
  const { read } = TeamReader.prototype
  TeamReader.prototype.read = function (team, statement) {
    statements.push(statement)
    return read.call(this, team, statement) as never
  }
  try {
    await api.server.inject({ method: 'GET', url: urlOf(route, params, query), headers: { authorization } })
  } finally {
    TeamReader.prototype.read = read
  }
  return statements
}
