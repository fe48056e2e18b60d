// Enumerates the plans of lists for teams: no subplan evaluates a policy or an expression for each matching row, so
// that a long list costs as much as joins on the team's objects. Rows are generated from column types, some hundred in
// every table.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { urlOf } from '@pharos/contract/client'
import { groupDevicesRoute } from '@pharos/contract/inventory/device'
import type { Route } from '@pharos/contract/route'
import { routes } from '@pharos/contract/document/routes'
import { isPage } from '@pharos/contract/scalar'
import { sql } from 'kysely'
import type { Client } from 'pg'
import type { Trx } from '../src/db/postgres.ts'
import { TeamReader } from '../src/db/team-reader.ts'
import { addTeam, addUser, createTestApi, type TestApi } from './api.ts'
import { openSession } from './support/credentials.ts'
import { addGeneratedRow, dropRules, listTables } from './support/generated-rows.ts'

/** Rows per table, and the limit of runs of a subplan: the page has one row. */
const rowCount = 200
const runsMax = 20

/** Tables of the caller. */
const kept = new Set(['teams', 'users', 'memberships', 'sessions', 'idempotency_keys'])

type Statement = { readonly sql: string; readonly parameters: readonly unknown[] }
type Plan = {
  readonly 'Parent Relationship'?: string
  readonly 'Actual Loops': number
  readonly Plans?: readonly Plan[]
}

const lists: readonly Route[] = [
  ...routes.filter(
    ({ response, query, path }) =>
      isPage(response) && 'limit' in query.properties && !path.startsWith('/v3/admin'),
  ),
  groupDevicesRoute,
]

/** The row that the path names. */
const chosen = 20

let api: TestApi
let client: Client | undefined
let authorization: string
let read: Statement[]

before(async () => {
  const { read: send } = TeamReader.prototype
  TeamReader.prototype.read = function (team, query) {
    read.push(query)
    return send.call(this, team, query) as never
  }
  api = await createTestApi({ PHAROS_RATE_LIMIT_PER_SECOND: '1000' })
  const { owner } = api.database.postgres
  const team = await addTeam(api, 'red')
  const { userId } = await addUser(api, 'ann', [team], { admin: true })
  const { access } = await openSession(api, userId, team.teamId)
  authorization = `Bearer ${access}`
  const tables = (await listTables(owner)).filter(
    ({ name, policies }) => policies.length > 0 && !kept.has(name),
  )
  await dropRules(owner, tables)
  await owner.transaction().execute(async (trx) => {
    for (const table of tables)
      for (let n = 1; n <= rowCount; n++) await addGeneratedRow(trx, table, n, team.teamId)
    await joinInventory(trx)
  })
  await sql`analyze`.execute(owner)
  client = await api.database.postgres.directConnection()
  await client.query('set role pharos_tenant')
  await client.query(`select set_config('pharos.team_id', $1, false)`, [String(team.teamId)])
})
after(async () => {
  await client?.end()
  await api[Symbol.asyncDispose]()
})

/** Half of the devices are of the provider, ports have interfaces, and the chosen device has many. */
async function joinInventory(trx: Trx): Promise<void> {
  await sql`update devices set customer_id = null where id % 2 = 0`.execute(trx)
  await sql`update ports set interface_id = id`.execute(trx)
  await sql`update interfaces set lag_id = id - 1 where id % 3 = 0`.execute(trx)
  await sql`
    insert into interfaces (id, device_id, key, if_index, name, type, lag_id) overriding system value
    select ${rowCount} + n, ${chosen}, 'y' || n, n, 'y' || n, 6, ${chosen} from generate_series(1, ${rowCount}::integer) n`.execute(
    trx,
  )
}

async function readOf(route: Route): Promise<Statement[]> {
  const query = {
    ...('limit' in route.query.properties && { limit: 1 }),
    ...(route === groupDevicesRoute && { by: 'location,role,vendor,status,tag', role: ['x'] }),
    ...('cidr' in route.query.properties && { cidr: ['192.0.0.0/16'] }),
  }
  const names = Object.keys(route.params.properties)
  const params = Object.fromEntries(names.map((name) => [name, name === 'team_id' ? 'current' : chosen]))
  read = []
  await api.server.inject({ method: 'GET', url: urlOf(route, params, query), headers: { authorization } })
  return read
}

/** Returns the runs of the most frequent subplan of a plan. */
function runsOf({ Plans: plans = [], ...plan }: Plan): number {
  const own = plan['Parent Relationship'] === 'SubPlan' ? plan['Actual Loops'] : 0
  return Math.max(own, ...plans.map(runsOf))
}

describe('the statements of', () => {
  for (const route of lists) {
    it(`${route.name} run no subplan for each row that matches`, async () => {
      for (const { sql: text, parameters } of await readOf(route)) {
        for (const mode of ['force_custom_plan', 'force_generic_plan']) {
          await client!.query(`set plan_cache_mode = ${mode}`)
          const { rows } = await client!.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
            `explain (analyze, timing off, format json) ${text}`,
            [...parameters],
          )
          assert.ok(runsOf(rows[0]!['QUERY PLAN'][0].Plan) <= runsMax, `${mode}: ${text}`)
        }
      }
    })
  }
})
