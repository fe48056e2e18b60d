// The lifecycle of an announcement over HTTP, without a registry: rejections and reasons, stored rows, deletion, restoring,
// suspension and history. The checks themselves are in validation.test.ts.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'

let api: TestApi
let red: TestTeam
let blue: TestTeam
const access: Record<string, string> = {}

before(async () => {
  api = await createTestApi({ PHAROS_ANNOUNCEMENTS_PER_TEAM: '62' })
  red = await addTeam(api, 'red')
  blue = await addTeam(api, 'blue')
  for (const [name, team, flags] of [
    ['admin', red, { admin: true }],
    ['member', red, {}],
    ['other', blue, { admin: true }],
    ['staff', red, { staff: true }],
  ] as const) {
    const { email } = await addUser(api, name, [team], flags)
    access[name] = (await api.signIn(email)).access
  }
  const { owner } = api.database.postgres
  await sql`insert into locations (key, name, country, timezone) values ('here', 'Here', 'NL', 'UTC')`.execute(
    owner,
  )
  await sql`insert into regions (slug, name, location_key, speakers) values
    ('ams', 'Amsterdam', 'here', '[{"name":"r1","kind":"sandbox"}]'), ('fra', 'Frankfurt', 'here', '[{"name":"r1","kind":"sandbox"}]')`.execute(
    owner,
  )
  await sql`insert into asns (team_id, asn, verified) values (${red.teamId}, 64496, now()),
    (${blue.teamId}, 64497, now()), (${red.teamId}, 64498, null)`.execute(owner)
  await sql`insert into prefixes (team_id, prefix) values (${blue.teamId}, '198.18.0.0/20')`.execute(owner)
})
after(() => api[Symbol.asyncDispose]())

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

async function call(who: string, method: Method, url: string, payload?: object) {
  const headers = { authorization: `Bearer ${access[who]}` }
  const response = await api.server.inject({ method, url, headers, ...(payload ? { payload } : {}) })
  const body = response.body === '' ? undefined : response.json()
  return { status: response.statusCode, body, etag: response.headers['etag'] }
}

const path = '/v3/ipam/announcements'
const one = (cidr: string, rest: object = {}) => ({ cidr, origin_asn: 64496, ...rest })
const create = (who: string, ...items: object[]) => call(who, 'POST', path, { announcements: items })
const errorsOf = ({ body }: { body: { errors: { loc: unknown[]; type: string; ctx?: unknown }[] } }) =>
  body.errors.map(({ loc, type }) => [loc.join('.'), type])

async function count(): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from announcements`.execute(
    api.database.postgres.owner,
  )
  return rows[0]!.n
}

describe('creating announcements', () => {
  it('stores several at once, disabled, with the checks known so far', async () => {
    const answer = await call('admin', 'POST', `${path}?include=validations,details`, {
      announcements: [
        one('203.0.113.0/24', { regions: ['fra', 'ams'], description: 'Web', as_set: 'AS-RED' }),
        one('2001:db8:a::/48'),
      ],
    })
    assert.equal(answer.status, 201)
    assert.equal(answer.body.count, 2)
    const [first, second] = answer.body.results
    assert.deepEqual([first.cidr, first.regions, first.enabled], ['203.0.113.0/24', ['ams', 'fra'], false])
    assert.deepEqual([first.status, second.status], ['pending_validation', 'pending_validation'])
    assert.deepEqual([first.details.description, first.details.as_set], ['Web', 'AS-RED'])
    const states = Object.fromEntries(
      first.validations.map(({ name, state }: { name: string; state: string }) => [name, state]),
    )
    const expected = {
      irr: 'unavailable',
      rpki: 'unavailable',
      loa: 'missing',
      asn: 'valid',
      size: 'valid',
      overlap: 'pending',
    }
    assert.deepEqual(states, expected)
    assert.equal((await call('member', 'GET', `${path}/${first.id}`)).body.cidr, '203.0.113.0/24')
    assert.equal((await call('other', 'GET', `${path}/${first.id}`)).status, 404)
  })

  it('accepts a single one without the list', async () => {
    const answer = await call('admin', 'POST', path, one('192.0.2.0/24'))
    assert.deepEqual([answer.status, answer.body.count], [201, 1])
  })

  it('answers with the ETag of GET for one record, and with none for several', async () => {
    for (const [query, n] of [
      ['', 40],
      ['?include=validations,details,region_states', 41],
    ] as const) {
      const answer = await call(
        'admin',
        'POST',
        `${path}${query}`,
        one(`192.88.${n}.0/24`, { regions: ['ams'] }),
      )
      const [{ id }] = answer.body.results
      assert.ok(answer.etag)
      assert.equal(answer.etag, (await call('admin', 'GET', `${path}/${id}${query}`)).etag)
      const headers = { authorization: `Bearer ${access['admin']}`, 'if-match': String(answer.etag) }
      const patched = await api.server.inject({
        method: 'PATCH',
        url: `${path}/${id}`,
        headers,
        payload: { regions: ['ams', 'fra'], description: 'Web' },
      })
      assert.deepEqual([patched.statusCode, patched.json().regions], [200, ['ams', 'fra']], patched.body)
    }
    const several = await create('admin', one('192.88.42.0/24'), one('192.88.43.0/24'))
    assert.deepEqual([several.status, several.etag], [201, undefined])
    await sql`delete from announcements where prefix <<= '192.88.40.0/21'`.execute(
      api.database.postgres.owner,
    )
  })

  it('says what to do with fields that only the answer has', async () => {
    const extra = { enabled: true, id: 7, status: 'ready' }
    const expected = [
      [
        'enabled',
        `is set by PATCH ${path}/{announcement_id}, after the record was created: do not send it here`,
      ],
      ['id', 'is set by the server: do not send it'],
      ['status', 'is set by the server: do not send it'],
    ]
    for (const body of [one('192.88.50.0/24', extra), { announcements: [one('192.88.50.0/24', extra)] }]) {
      const answer = await call('admin', 'POST', path, body)
      assert.equal(answer.status, 422)
      const errors: { loc: string[]; msg: string; type: string }[] = answer.body.errors
      assert.deepEqual(
        errors.map(({ loc, msg }) => [loc.at(-1), msg]),
        expected,
      )
      assert.deepEqual(new Set(errors.map(({ type }) => type)), new Set(['unknown']))
    }
  })

  it('returns every error with its place, and stores nothing', async () => {
    const before = await count()
    const answer = await create(
      'admin',
      one('198.51.100.1/24'),
      one('198.51.100.0/25'),
      one('10.0.0.0/8'),
      one('203.0.113.0/24'),
      one('2001:db8:b::/48', { origin_asn: 64499 }),
      one('2001:db8:c::/48', { regions: ['nowhere'] }),
      one('2001:db8:d::/48', { origin_asn: 23456 }),
      one('198.51.100.0/24'),
      one('198.51.100.0/24'),
      one('0.0.0.0/0'),
      one('::ffff:203.0.113.0/120'),
      one('nonsense'),
    )
    assert.equal(answer.status, 422)
    const errors = errorsOf(answer)
    const at = (n: number, field: string) =>
      errors.find(([loc]) => loc === `body.announcements.${n}.${field}`)?.[1]
    assert.equal(at(0, 'cidr'), 'host_bits')
    assert.equal(answer.body.errors[0].ctx.canonical, '198.51.100.0/24')
    assert.equal(at(1, 'cidr'), 'prefix_length')
    assert.equal(at(2, 'cidr'), 'bogon')
    assert.equal(at(3, 'cidr'), 'overlap')
    const own = answer.body.errors.find(({ loc }: { loc: unknown[] }) => loc[2] === 3)
    assert.match(own.msg, new RegExp(`; import or PATCH ${path}/${own.ctx.id}$`))
    assert.equal((await call('admin', 'GET', `${path}/${own.ctx.id}`)).body.cidr, '203.0.113.0/24')
    assert.equal(at(4, 'origin_asn'), 'asn_not_verified')
    assert.equal(at(5, 'regions.0'), 'unknown')
    assert.equal(at(6, 'origin_asn'), 'reserved_asn')
    assert.equal(at(7, 'cidr'), undefined)
    assert.equal(at(8, 'cidr'), 'overlap')
    for (const n of [9, 10, 11]) assert.ok(at(n, 'cidr'), `item ${n}`)
    assert.equal(await count(), before)
  })

  it('rejects an ASN that is pending verification', async () => {
    const answer = await create('admin', one('198.51.100.0/24', { origin_asn: 64498 }))
    assert.deepEqual(errorsOf(answer), [['body.announcements.0.origin_asn', 'asn_not_verified']])
  })

  it('answers the same for a prefix that another team holds and for a free one while nothing is proven', async () => {
    const answers = []
    for (const cidr of ['198.18.1.0/24', '198.18.17.0/24']) {
      const dry = await call('admin', 'POST', `${path}?dry_run=true`, one(cidr))
      const made = await call('admin', 'POST', `${path}?include=validations,state_messages`, one(cidr))
      const [{ id }] = made.body.results
      const wrong = await create('admin', one(cidr, { origin_asn: 64499 }))
      const deleted = await call('admin', 'DELETE', `${path}/${id}`)
      const restored = await call('admin', 'POST', `${path}/${id}/restore`)
      await sql`delete from announcements where id = ${id}`.execute(api.database.postgres.owner)
      const text = JSON.stringify(
        [dry, made, wrong, deleted, restored].map(({ status, body }) => [status, body]),
      )
      assert.doesNotMatch(text, /blue|198\.18\.0\.0|another customer/i)
      answers.push(
        text
          .replaceAll(cidr.replace('/24', ''), 'N')
          .replaceAll(cidr.replace('.0/24', ''), 'N')
          .replaceAll(/"id":\d+/g, '')
          .replaceAll(/"request_id":"[^"]+"/g, '')
          .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'T')
          .replaceAll(new RegExp(`announcements/${id}`, 'g'), ''),
      )
    }
    assert.equal(answers[0], answers[1])
  })

  it('allows two teams to name the same prefix until one has proven it', async () => {
    const answer = await call('other', 'POST', path, { cidr: '203.0.113.0/24', origin_asn: 64497 })
    assert.equal(answer.status, 201)
    await sql`update announcements set claimed = now() where team_id = ${red.teamId} and prefix = '203.0.113.0/24'`.execute(
      api.database.postgres.owner,
    )
    const late = await call('other', 'POST', path, { cidr: '203.0.113.0/25', origin_asn: 64497 })
    assert.equal(late.status, 422, 'a /25 is too long for every team')
  })

  it('requires the admin role; a dry run stores nothing and returns the checks', async () => {
    assert.equal((await create('member', one('198.51.100.0/24'))).status, 403)
    const before = await count()
    const dry = await call('admin', 'POST', `${path}?dry_run=true`, one('198.51.100.0/24'))
    assert.equal(dry.status, 200)
    assert.equal(dry.body.result.results[0].validations.length, 6)
    assert.equal(await count(), before)
  })

  it('names the invalid field for a single one and for a list', async () => {
    const bare = await call('admin', 'POST', path, { cidr: '198.51.100.0/24', origin: 64496 })
    assert.deepEqual(errorsOf(bare).toSorted(), [
      ['body.origin', 'unknown'],
      ['body.origin_asn', 'required'],
    ])
    const listed = await call('admin', 'POST', path, { announcements: [{ cidr: '198.51.100.0/24' }] })
    assert.deepEqual(errorsOf(listed), [['body.announcements.0.origin_asn', 'required']])
    assert.equal((await call('admin', 'POST', path, { announcements: [] })).status, 422)
  })

  it('has a quota', async () => {
    const many = Array.from({ length: 50 }, (_, n) => one(`2001:db8:${(n + 256).toString(16)}::/48`))
    assert.equal((await create('admin', ...many)).status, 201)
    const more = Array.from({ length: 10 }, (_, n) => one(`2001:db8:${(n + 512).toString(16)}::/48`))
    const answer = await create('admin', ...more)
    assert.deepEqual([answer.status, answer.body.code], [403, 'quota_exceeded'])
  })
})

describe('deleting and restoring', () => {
  it('rejects deletion while enabled or seen on a router, and names the regions', async () => {
    const { owner } = api.database.postgres
    const { rows } = await sql<{ id: number }>`
      insert into announcements (team_id, prefix, origin_asn, irr_validated, rpki_validated, loa_validated, enabled,
        vouched, clearance, claimed, checked_origin)
      values (${red.teamId}, '198.51.100.0/24', 64496, now(), now(), now(), true,
        '{irr,rpki,loa}', 'passed', now(), 64496) returning id`.execute(owner)
    const id = rows[0]!.id
    await sql`insert into announcement_regions (announcement_id, region_id, team_id, configured, state)
      select ${id}, id, ${red.teamId}, true, 'announced' from regions where slug = 'ams'`.execute(owner)
    const enabled = await call('admin', 'DELETE', `${path}/${id}`)
    assert.deepEqual([enabled.status, enabled.body.code], [409, 'still_announced'])
    assert.equal((await call('admin', 'PATCH', `${path}/${id}`, { enabled: false })).status, 200)
    const leaving = await call('admin', 'DELETE', `${path}/${id}`)
    assert.deepEqual(leaving.body.errors[0].ctx, { region: 'ams', state: 'withdrawing' })
    await sql`update announcement_regions set state = 'withdrawn' where announcement_id = ${id}`.execute(
      owner,
    )
    assert.equal((await call('member', 'DELETE', `${path}/${id}`)).status, 403)
    assert.equal((await call('other', 'DELETE', `${path}/${id}`)).status, 404)
    assert.equal((await call('admin', 'DELETE', `${path}/${id}`)).status, 204)
    assert.equal((await call('admin', 'GET', `${path}/${id}`)).status, 404)
    assert.equal((await call('admin', 'DELETE', `${path}/${id}`)).status, 404)
    const listed = await call('admin', 'GET', `${path}?deleted=true&include=details`)
    assert.deepEqual(
      listed.body.results.map((entry: { id: number }) => entry.id),
      [id],
    )
    assert.ok(listed.body.results[0].details.deleted)

    assert.equal((await call('other', 'POST', `${path}/${id}/restore`)).status, 404)
    const restored = await call('admin', 'POST', `${path}/${id}/restore`)
    assert.deepEqual([restored.status, restored.body.id, restored.body.regions], [200, id, ['ams']])
    assert.equal((await call('admin', 'POST', `${path}/${id}/restore`)).status, 200, 'twice is once')

    const history = await call('member', 'GET', `${path}/${id}/history?ordering=id`)
    assert.deepEqual(
      history.body.results.map(({ kind }: { kind: string }) => kind),
      ['disabled', 'deleted', 'restored'],
    )
    assert.equal((await call('other', 'GET', `${path}/${id}/history`)).status, 404)
  })

  it('does not restore an announcement that overlaps a newer one', async () => {
    const [{ id }] = (await create('admin', one('198.18.64.0/24'))).body.results
    assert.equal((await call('admin', 'DELETE', `${path}/${id}`)).status, 204)
    assert.equal((await create('admin', one('198.18.64.0/23'))).status, 201)
    const answer = await call('admin', 'POST', `${path}/${id}/restore`)
    assert.deepEqual([answer.status, answer.body.code], [409, 'conflict'])
  })

  it('deletes permanently after seven days', async () => {
    const [{ id }] = (await create('admin', one('198.18.70.0/24'))).body.results
    await call('admin', 'DELETE', `${path}/${id}`)
    await sql`update announcements set deleted = now() - interval '8 days' where id = ${id}`.execute(
      api.database.postgres.owner,
    )
    assert.equal((await call('admin', 'POST', `${path}/${id}/restore`)).status, 404)
  })
})

describe('suspending', () => {
  it('is for staff, for any team, with a reason that the team sees, and staff end it', async () => {
    const [{ id }] = (await create('admin', one('198.18.80.0/24'))).body.results
    const admin = `/v3/admin/announcements/${id}`
    assert.equal((await call('admin', 'POST', `${admin}/suspend`, { reason: 'x' })).status, 403)
    const suspended = await call('staff', 'POST', `${admin}/suspend`, { reason: 'Complaint 7.' })
    assert.equal(suspended.body.status, 'suspended')
    const shown = await call('admin', 'GET', `${path}/${id}?include=details,state_messages`)
    assert.deepEqual(
      [shown.body.details.suspended, shown.body.details.suspended_reason],
      [true, 'Complaint 7.'],
    )
    assert.equal(shown.body.state_messages[0].tag, 'suspended')
    const resumed = await call('staff', 'POST', `${admin}/resume`)
    assert.equal(resumed.body.status, 'pending_validation')
    assert.equal((await call('staff', 'POST', '/v3/admin/announcements/999999/resume')).status, 404)
  })
})

describe('enabling', () => {
  it('is rejected with each missing check, its note and its fix', async () => {
    const [{ id }] = (await create('admin', one('198.18.90.0/24'))).body.results
    const answer = await call('admin', 'PATCH', `${path}/${id}`, { enabled: true })
    assert.deepEqual([answer.status, answer.body.code], [409, 'not_validated'])
    const loa = answer.body.errors.find(({ ctx }: { ctx: { missing: string } }) => ctx.missing === 'loa')
    assert.match(loa.ctx.fix, /\/loa/)
  })

  it('has an ETag that includes all shown data, and an older one still matches for writing', async () => {
    const [{ id }] = (await create('admin', one('198.18.91.0/24'))).body.results
    const { etag } = await call('admin', 'GET', `${path}/${id}?include=validations`)
    assert.match(String(etag), /^"\d+\.[\w-]+"$/)
    const headers = { authorization: `Bearer ${access['admin']}`, 'if-match': String(etag) }
    const answer = await api.server.inject({ method: 'DELETE', url: `${path}/${id}`, headers })
    assert.equal(answer.statusCode, 204)
  })
})
