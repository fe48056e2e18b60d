// A decision covers what staff have seen, for every operation with which they approve or reject: it names the evidence of what was shown, or what it
// decides about never changes: a hold that waits for more is another hold, and a letter with another file another letter.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import type { ZoneHold } from '@pharos/contract/zone-hold'
import { routes } from '@pharos/contract/routes'
import { saveHolds } from '../src/shield/reconcile.store.ts'
import { seedRegions } from '../src/byoip/announcement/testing.ts'
import { openHold as openRouteHold } from '../src/byoip/regions/hold.ts'
import { decideZoneHoldAs } from '../src/dns/publish/zone-hold.ts'
import { openHold as openZoneHold } from '../src/dns/publish/hold.ts'
import { parsePrefix } from '../src/net/prefix.ts'
import { addTeam, addUser, createTestApi, type TestApi } from './api.ts'

/** How each operation is bound to what was shown. */
const bindings: Readonly<Record<string, 'evidence' | 'id'>> = {
  approveHold: 'id',
  rejectHold: 'id',
  approveShieldHold: 'id',
  rejectShieldHold: 'id',
  approveZoneHold: 'evidence',
  rejectZoneHold: 'evidence',
  applyPlatform: 'evidence',
  acceptLetter: 'id',
  rejectLetter: 'id',
}

let api: TestApi
let staff: string
before(async () => {
  api = await createTestApi()
  const team = await addTeam(api, 'red')
  const { email } = await addUser(api, 'staff', [team], { staff: true })
  staff = (await api.signIn(email)).access
})
after(() => api[Symbol.asyncDispose]())

const db = () => api.database.postgres.owner
const decide = async (verb: 'approve' | 'reject', area: string, id: number, query = '') => {
  const { statusCode: status, body } = await api.server.inject({
    method: 'POST',
    url: `/v3/admin/${area}/${id}/${verb}${query}`,
    headers: { authorization: `Bearer ${staff}` },
  })
  return { status, state: (JSON.parse(body) as { state?: string }).state }
}
const verbs = { approve: 'approved', reject: 'rejected' } as const
const eachVerb = Object.entries(verbs) as [keyof typeof verbs, (typeof verbs)[keyof typeof verbs]][]
const idsOf = async (table: 'holds' | 'shield_holds'): Promise<number[]> => {
  const { rows } = await sql<{ id: number }>`select id from ${sql.table(table)} order by id`.execute(db())
  return rows.map(({ id }) => id)
}

describe('decisions', () => {
  it('are all bound to what was shown', () => {
    const deciding = routes.filter(
      ({ path, query }) =>
        /^\/v3\/admin\/.*\/(approve|accept|reject)$/.test(path) || 'evidence' in (query?.properties ?? {}),
    )
    assert.deepEqual(deciding.map(({ name }) => name).toSorted(), Object.keys(bindings).toSorted())
    for (const { name, query } of deciding)
      assert.equal('evidence' in (query?.properties ?? {}), bindings[name] === 'evidence', name)
  })

  it('of a hold of routes that was replaced by one of more are refused', async () => {
    const { ams } = await seedRegions(api.database.postgres, ['ams'])
    const planned = (...prefixes: string[]) => ({
      findings: [{ reason: 'no_rows' as const, attrs: { routes: prefixes.length } }],
      withdrawals: prefixes.map((prefix) => parsePrefix(prefix)),
      changes: [],
    })
    await openRouteHold(db(), ams!, planned('192.0.2.0/24'), [])
    await openRouteHold(db(), ams!, planned('192.0.2.0/24', '198.51.100.0/24'), [])
    const [former, newer] = await idsOf('holds')
    for (const [verb] of eachVerb) assert.equal((await decide(verb, 'holds', former!)).status, 409)
    assert.equal((await decide('approve', 'holds', newer!)).state, 'approved')
  })

  it('of a hold of shield whose plan is another one by now are refused', async () => {
    const hold = (count: number) => ({
      listId: null,
      teamId: null,
      reason: 'no_lists' as const,
      attrs: { count, rules: count, prefixes: [] },
      evidence: `plan of ${count}`,
    })
    for (const count of [1, 2])
      await db()
        .transaction()
        .execute((trx) => saveHolds(trx, 'edge', [hold(count)]))
    const [former, newer] = await idsOf('shield_holds')
    for (const [verb] of eachVerb) assert.equal((await decide(verb, 'shield-holds', former!)).status, 409)
    assert.equal((await decide('approve', 'shield-holds', newer!)).state, 'approved')
  })

  for (const [verb, state] of eachVerb)
    it(`of a hold of DNS, ${verb}, need its evidence, which changes with it`, () => decideGrown(verb, state))

  const decideGrown = async (verb: keyof typeof verbs, state: (typeof verbs)[keyof typeof verbs]) => {
    const open = async (...sets: string[]): Promise<Pick<ZoneHold, 'id' | 'evidence'>> => {
      await openZoneHold(db(), { kind: 'catalog', reason: 'many_removals', sets })
      const { rows } = await sql<ZoneHold>`select id, evidence from dns_holds where state = 'open'`.execute(
        db(),
      )
      return rows[0]!
    }
    const { id, evidence } = await open(`${verb}.example.`)
    const grown = await open(`${verb}.example.`, 'b.example.')
    assert.deepEqual([grown.id, grown.evidence === evidence], [id, false])
    assert.equal((await decide(verb, 'zone-holds', id)).status, 422)
    assert.equal((await decide(verb, 'zone-holds', id, `?evidence=${evidence}`)).status, 409)
    const operator = { actor: 'operator' }
    for (const shown of [undefined, evidence])
      await assert.rejects(decideZoneHoldAs({ db: db() }, operator, id, state, shown), /Read it again/)
    assert.equal((await decide(verb, 'zone-holds', id, `?evidence=${grown.evidence}`)).state, state)
  }
})
