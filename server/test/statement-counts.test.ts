// Number of statements and round trips of frequent changes and of their publication: a rule that adds a query to each change fails here. A smaller number is written into the table.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  changeRecordSetsRoute,
  createRecordSetsRoute,
  deleteRecordSetRoute,
  recordSetRoutes,
  updateRecordSetRoute,
} from '@pharos/contract/dns/recordset'
import { seedAnnouncement, seedRegions } from '../src/byoip/announcement/testing.ts'
import { openPostgres, type Postgres } from '../src/db/postgres.ts'
import { listUnpublished } from '../src/dns/publish/publish.store.ts'
import { parallelZones, publishZones } from '../src/dns/publish/publish-zones.ts'
import { signZone } from '../src/dns/sign/sign-zone.ts'
import { silentLog } from '../src/runtime/log.ts'
import { createTestApi, type TestApi } from './api.ts'
import { addDnsTeam, type DnsTeam } from './support/dns.ts'
import { StatementCounter } from './support/statement-counter.ts'

const counter = new StatementCounter()
let api: TestApi
let team: DnsTeam
let announcementId: number
before(async () => {
  api = await createTestApi({}, { through: (url) => counter.through(url) })
  team = await addDnsTeam(api, 'red')
  const created = await team.call('POST', '/zones', { name: 'shop.example', dnssec: false })
  assert.equal(created.status, 201, created.text)
  const { postgres } = api.database
  await seedRegions(postgres, ['ams', 'fra'])
  announcementId = await seedAnnouncement(postgres, { teamId: team.teamId, prefix: '203.0.113.0/24' })
})
after(async () => {
  await api[Symbol.asyncDispose]()
  await counter[Symbol.asyncDispose]()
})

type Counted = {
  /** Name of the test. */
  readonly what: string
  readonly method: Parameters<DnsTeam['call']>[0]
  readonly path: string | (() => string)
  readonly body?: object
  readonly headers?: Record<string, string>
  readonly statements: number
  readonly roundTrips: number
}

const sets = '/zones/shop.example/recordsets'
const counts: readonly (Counted & { readonly of: object })[] = [
  {
    what: 'creates a record set',
    of: createRecordSetsRoute,
    method: 'POST',
    path: sets,
    body: { name: 'www', type: 'A', records: ['192.0.2.1'] },
    statements: 13,
    roundTrips: 3,
  },
  {
    what: 'replaces a record set',
    of: updateRecordSetRoute,
    method: 'PUT',
    path: `${sets}/www/A`,
    body: { records: ['192.0.2.2'] },
    statements: 13,
    roundTrips: 3,
  },
  {
    what: 'replaces a record set with itself',
    of: updateRecordSetRoute,
    method: 'PUT',
    path: `${sets}/www/A`,
    body: { records: ['192.0.2.2'] },
    statements: 7,
    roundTrips: 3,
  },
  {
    what: 'adds a record to a set',
    of: updateRecordSetRoute,
    method: 'PUT',
    path: `${sets}/www/A`,
    body: { add: ['192.0.2.3'] },
    headers: { 'idempotency-key': 'statement-counts' },
    statements: 16,
    roundTrips: 4,
  },
  {
    what: 'changes several record sets',
    of: changeRecordSetsRoute,
    method: 'PATCH',
    path: sets,
    body: {
      recordsets: [
        { name: 'a', type: 'A', records: ['192.0.2.1'] },
        { name: 'b', type: 'TXT', records: ['"text"'] },
      ],
    },
    statements: 13,
    roundTrips: 3,
  },
  {
    what: 'creates an ALIAS record',
    of: createRecordSetsRoute,
    method: 'POST',
    path: sets,
    body: { name: 'alias', type: 'ALIAS', records: ['target.example.'] },
    statements: 14,
    roundTrips: 4,
  },
  {
    what: 'deletes a record set',
    of: deleteRecordSetRoute,
    method: 'DELETE',
    path: `${sets}/www/A`,
    statements: 13,
    roundTrips: 3,
  },
]

describe('a change of record sets', () => {
  it('is counted for every operation', () => {
    const changing = recordSetRoutes.filter(({ method }) => method !== 'GET')
    assert.deepEqual(new Set(counts.map(({ of }) => of)), new Set(changing))
  })

  for (const one of counts) countIt(one)
})

describe('the publication of a changed record set', () => {
  const owner = new StatementCounter('owner')
  let postgres: Postgres
  before(async () => {
    postgres = await openPostgres({ databaseUrl: owner.through(api.database.databaseUrl), dataDir: '' })
  })
  after(async () => {
    await postgres.stop()
    await owner[Symbol.asyncDispose]()
  })

  for (const [what, dnssec] of [
    ['unsigned', false],
    ['signed', true],
  ] as const)
    it(`has 3 statements in 3 round trips, ${what}`, async () => {
      const created = await team.call('POST', '/zones', { name: `${what}.example`, dnssec })
      assert.equal(created.status, 201, created.text)
      const ring = api.config.secret
      const deps = { db: postgres.owner, ring, signWhole: signZone, now: () => new Date() }
      const publish = async () =>
        publishZones(
          deps,
          await listUnpublished(postgres.owner, parallelZones),
          silentLog,
          AbortSignal.timeout(60_000),
        )
      const put = (address: string) =>
        team.call('PUT', `/zones/${what}.example/recordsets/www/A`, { records: [address] })
      await put('192.0.2.1')
      await publish()
      await put('192.0.2.2')
      const sent = await owner.during(async () => assert.equal((await publish()).published, 1))
      assert.deepEqual(
        { statements: sent.statements.length, roundTrips: sent.roundTrips },
        { statements: 3, roundTrips: 3 },
        sent.statements.join('\n'),
      )
    })
})

describe('a change of an announcement', () => {
  const path = () => `/v3/ipam/announcements/${announcementId}`
  for (const [what, body, statements, roundTrips] of [
    ['enables it', { enabled: true }, 13, 4],
    ['disables it', { enabled: false }, 12, 4],
    ['changes its description', { description: 'office' }, 12, 4],
    ['changes nothing', { enabled: false }, 5, 2],
  ] as const)
    countIt({ what, method: 'PATCH', path, body, statements, roundTrips })
})

function countIt({ what, method, path, body, headers, statements, roundTrips }: Counted): void {
  it(`${what} with ${statements} statements in ${roundTrips} round trips`, async () => {
    const sent = await counter.during(async () => {
      const { status, text } = await team.call(
        method,
        typeof path === 'string' ? path : path(),
        body,
        headers,
      )
      assert.ok(status < 300, text)
    })
    const found = { statements: sent.statements.length, roundTrips: sent.roundTrips }
    assert.deepEqual(found, { statements, roundTrips }, sent.statements.join('\n'))
  })
}
