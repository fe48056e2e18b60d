// The platform document over HTTP: the same planner as the platform file, without secrets and files, with a guard of deletions.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { PlatformPlan } from '@pharos/contract/operator/platform'
import { sql } from 'kysely'
import { createTestApi, type TestApi } from './api.ts'
import { openSession } from './support/credentials.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'

let api: TestApi
let fixtures: Fixtures
let authorization: string

before(async () => {
  api = await createTestApi()
  fixtures = await createFixtures(api)
  const { access } = await openSession(api, fixtures.people.staff.userId, fixtures.red.teamId)
  authorization = `Bearer ${access}`
})
after(() => api[Symbol.asyncDispose]())

const post = (body: object, query = '') =>
  api.server.inject({
    method: 'POST',
    url: `/v3/admin/apply${query}`,
    headers: { authorization },
    payload: body,
  })

type Problem = {
  code: string
  detail: string
  errors?: { loc: (string | number)[]; msg: string; type: string }[]
}

const devices = (...names: string[]) => ({ devices: names.map((name) => ({ name, role: 'edge' })) })
const ten = Array.from({ length: 10 }, (_, at) => `r${at}.lab`)

async function names(): Promise<string[]> {
  const { rows } = await sql<{
    name: string
  }>`select name from devices where name like '%.lab' order by 1`.execute(api.database.postgres.owner)
  return rows.map(({ name }) => name)
}

describe('the platform document over HTTP', () => {
  it('is planned by a dry run, applied once, and audited as the caller', async () => {
    const planned = await post(devices(...ten), '?dry_run=true')
    assert.equal(planned.statusCode, 200, planned.body)
    assert.deepEqual(await names(), [])
    const applied = await post(devices(...ten))
    const plan = applied.json<PlatformPlan>()
    assert.deepEqual(
      [
        plan.applied,
        plan.changes.length,
        plan.changes[0]!.action,
        plan.changes[0]!.kind,
        plan.changes[0]!.key,
      ],
      [true, 10, 'create', 'device', 'r0.lab'],
    )
    assert.deepEqual(planned.json<{ result: PlatformPlan }>().result, { ...plan, applied: false })
    assert.deepEqual((await post(devices(...ten))).json<PlatformPlan>().changes, [])
    const { rows } = await sql<{ actor: string; by_staff: boolean }>`
      select distinct actor, by_staff from audit_entries where action = 'device.create'`.execute(
      api.database.postgres.owner,
    )
    assert.deepEqual(rows, [{ actor: `user:${fixtures.people.staff.userId}`, by_staff: true }])
  })

  it('reports every problem with its place, and changes nothing', async () => {
    const answer = await post({ devices: [{ name: 'new.lab' }, { nmae: 'x' }], services: 5, sevices: [] })
    const { errors = [] } = answer.json<Problem>()
    assert.equal(answer.statusCode, 422)
    assert.deepEqual(errors.map(({ loc }) => loc.join('.')).toSorted(), [
      'body.devices.1.name',
      'body.devices.1.nmae',
      'body.services',
      'body.sevices',
    ])
    assert.ok(!(await names()).includes('new.lab'))
  })

  it('contains neither users, nor secrets, nor files or programs of the server at any depth', async () => {
    const answer = await post({
      users: [],
      provider: [{ name: 'X', logo_file: '/etc/hostname' }],
      credentials: [{ name: 'c', version: 'v2c', community: 'public' }],
      sources: [{ key: 's', kind: 'fastnetmon', name: 'S', secret_file: '/etc/hostname' }],
      regions: [{ slug: 'x', speakers: [{ kind: 'gobgp', tls: { ca_file: '/etc/hostname' } }] }],
      scrubbers: [{ name: 's', settings: { kind: 'nftables', command: ['sh', '-c', 'id'] } }],
    })
    const { errors = [] } = answer.json<Problem>()
    assert.equal(answer.statusCode, 422)
    assert.deepEqual(errors.map(({ loc, type }) => `${type} ${loc.join('.')}`).toSorted(), [
      'not_accepted body.credentials.0.community',
      'not_accepted body.provider.0.logo_file',
      'not_accepted body.regions.0.speakers.0.tls.ca_file',
      'not_accepted body.scrubbers.0.settings.command',
      'not_accepted body.sources.0.secret_file',
      'not_accepted body.users',
    ])
  })

  it('deletes many elements only with their number, and none that NetBox manages', async () => {
    const db = api.database.postgres.owner
    const others = await sql<{ name: string }>`select name from devices where name not like '%.lab'`.execute(
      db,
    )
    const kept = others.rows.map(({ name }) => name)
    await sql`update devices set managed_by = 'netbox' where name = 'r9.lab'`.execute(db)
    const document = devices(...kept, 'r0.lab')
    const refused = await post(document, '?prune=true')
    assert.equal(refused.statusCode, 409)
    assert.match(refused.json<Problem>().detail, /8 devices \(limit 3\).*`deletions=8&evidence=[0-9a-f]{64}`/)
    const planned = await post(document, '?prune=true&dry_run=true')
    assert.deepEqual(planned.json<{ result: PlatformPlan }>().result.held, [
      { kind: 'device', deletions: 8, limit: 3 },
    ])
    assert.equal((await names()).length, 10)
    const { evidence } = planned.json<{ result: PlatformPlan }>().result
    for (const wrong of ['', `&evidence=${'0'.repeat(64)}`])
      assert.equal((await post(document, `?prune=true&deletions=8${wrong}`)).statusCode, 409)
    const others8 = await post(devices(...kept, 'r1.lab'), `?prune=true&deletions=8&evidence=${evidence}`)
    assert.equal(others8.statusCode, 409, 'as many, but others')
    assert.equal((await names()).length, 10)
    const done = await post(document, `?prune=true&deletions=8&evidence=${evidence}`)
    assert.equal(done.statusCode, 200, done.body)
    assert.deepEqual(await names(), ['r0.lab', 'r9.lab'])
  })

  it('leaves the fields that NetBox has set on its rows, and sets the others', async () => {
    const { notices } = (
      await post({
        devices: [{ name: 'r9.lab', role: 'core', driver: 'sandbox', settings: { interfaces: [] } }],
      })
    ).json<PlatformPlan>()
    assert.deepEqual(notices, ['device r9.lab: managed by netbox; role kept (--enforce changes that)'])
    const { rows } = await sql`select role, driver, managed_by from devices where name = 'r9.lab'`.execute(
      api.database.postgres.owner,
    )
    assert.deepEqual(rows, [{ role: 'edge', driver: 'sandbox', managed_by: 'netbox' }])
  })

  it('reports an interface that is another port already, instead of failing', async () => {
    const portOf = (circuit_id: string) => ({ ports: [{ circuit_id, device: 'r0.lab', interface: 'xe-0' }] })
    assert.equal((await post(portOf('A-1'))).statusCode, 200)
    const answer = await post(portOf('A-2'), '?prune=true')
    assert.equal(answer.statusCode, 422)
    assert.match(answer.json<Problem>().errors![0]!.msg, /is port A-1; use that circuit_id/)
  })
})
