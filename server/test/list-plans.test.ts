// Enumerates the plans of lists for teams: no subplan evaluates a policy or an expression for each matching row, so
// that a long list costs as much as joins on the team's objects. Rows are generated from column types, some hundred in
// every table.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import type { Client } from 'pg'
import { chosen, lists, openLists, type Lists } from './support/list-statements.ts'

/** Rows per table, and the limit of runs of a subplan: the page has one row. */
const rowCount = 200
const runsMax = 20

type Plan = {
  readonly 'Parent Relationship'?: string
  readonly 'Actual Loops': number
  readonly Plans?: readonly Plan[]
}

let opened: Lists
let client: Client | undefined

before(async () => {
  opened = await openLists()
  const { postgres } = opened.api.database
  await opened.addRows(1, rowCount)
  // The chosen device has many interfaces.
  await sql`
    insert into interfaces (id, device_id, key, if_index, name, type, lag_id) overriding system value
    select ${rowCount} + n, ${chosen}, 'y' || n, n, 'y' || n, 6, ${chosen} from generate_series(1, ${rowCount}::integer) n`.execute(
    postgres.owner,
  )
  await sql`analyze`.execute(postgres.owner)
  client = await postgres.directConnection()
  await client.query('set role pharos_tenant')
  await client.query(`select set_config('pharos.team_id', $1, false)`, [String(opened.teamId)])
})
after(async () => {
  await client?.end()
  await opened[Symbol.asyncDispose]()
})

/** Returns the runs of the most frequent subplan of a plan. */
function runsOf({ Plans: plans = [], ...plan }: Plan): number {
  const own = plan['Parent Relationship'] === 'SubPlan' ? plan['Actual Loops'] : 0
  return Math.max(own, ...plans.map(runsOf))
}

describe('the statements of', () => {
  for (const route of lists) {
    it(`${route.name} run no subplan for each row that matches`, async () => {
      for (const { sql: text, parameters } of await opened.statementsOf(route, 1)) {
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
