// Invalid input must never be interpreted: bodies, paths, queries and headers that are nearly valid. Each gets a problem document
// that names the place and the fix, and changes no row. The announcement is enabled, so that any input interpreted as "disable" is
// detected. Invalid HTTP is tested in bad-http.test.ts.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { problems, type ProblemCode } from '@pharos/contract/problem'
import { sql } from 'kysely'
import { ingestDeliveries } from '../src/events/ingest/ingest.ts'
import { createOwnershipCache } from '../src/inventory/holding/ownership.ts'
import { createTestApi, type TestApi } from './api.ts'
import { openSession } from './support/credentials.ts'
import { trackChanges, type Changes } from './support/changes.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'

let api: TestApi
let fixtures: Fixtures
let access: string
let changesSince: Changes

before(async () => {
  api = await createTestApi()
  fixtures = await createFixtures(api)
  access = (await openSession(api, fixtures.people.admin.userId, fixtures.red.teamId)).access
  changesSince = await trackChanges(api.database.postgres.owner)
})
after(() => api[Symbol.asyncDispose]())

type Sent = {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

type Expected = {
  readonly code: ProblemCode
  /** Place of the first error, such as `body.enabled`. */
  readonly at?: string
  /** Expected text in `detail` or an error. */
  readonly matches: RegExp
}

async function send({ method = 'GET', url, headers, body }: Sent) {
  return await api.server.inject({
    method,
    url,
    headers: { authorization: `Bearer ${access}`, ...headers },
    ...(body === undefined ? {} : { payload: body }),
  })
}

/** Internals that no response may contain: file names, SQL, class names. */
const internals = /\.ts\b|node_modules|\bselect\b.*\bfrom\b|kysely|fastify|typebox|\n\s+at /i

async function assertRefused(sent: Sent, { code, at, matches }: Expected): Promise<void> {
  await changesSince()
  const { statusCode, headers, body } = await send(sent)
  assert.equal(statusCode, problems[code].status, body)
  assert.match(String(headers['content-type']), /^application\/problem\+json/)
  const problem = JSON.parse(body)
  assert.equal(problem.code, code, body)
  assert.match(body.replaceAll('\\"', '"'), matches)
  assert.doesNotMatch(body, internals)
  if (code === 'invalid') assert.ok(problem.errors.length > 0, body)
  if (at !== undefined) assert.equal(problem.errors[0].loc.join('.'), at, body)
  assert.deepEqual(await changesSince(), [])
}

const json = { 'content-type': 'application/json' }

function patch(body: string | Buffer, headers: Record<string, string> = json, query = ''): Sent {
  return {
    method: 'PATCH',
    url: `/v3/ipam/announcements/${fixtures.red.announcements.on}${query}`,
    headers,
    body,
  }
}

describe('a body that toggles an announcement', () => {
  const bodies: [body: string | Buffer, expected: Expected][] = [
    ...['null', '0', '1', '"false"', '"true"', '""', '[false]', '{}', '[]', '1e0'].map(
      (value): [string, Expected] => [
        `{"enabled":${value}}`,
        { code: 'invalid', at: 'body.enabled', matches: /must be true or false/ },
      ],
    ),
    ['{}', { code: 'invalid', at: 'body.enabled', matches: /is required/ }],
    ['{"region":"ams"}', { code: 'invalid', at: 'body.enabled', matches: /is required/ }],
    ['{"enable":false}', { code: 'invalid', matches: /known fields are enabled, region/ }],
    [
      '{"enabled":false,"cidr":"203.0.113.0/24"}',
      { code: 'invalid', at: 'body.cidr', matches: /cannot be changed by this operation: do not send it/ },
    ],
    [
      '{"enabled":false,"region":"ams","regions":["ams"]}',
      { code: 'invalid', at: 'body.region', matches: /must not be sent with regions/ },
    ],
    ['{"regions":[]}', { code: 'invalid', at: 'body.regions', matches: /name the regions/ }],
    [
      '{"regions":["ams","nowhere"]}',
      { code: 'invalid', at: 'body.regions.1', matches: /"valid":\["ams","fra","lon"\]/ },
    ],
    [
      '{"enabled":false,"regions":null}',
      { code: 'invalid', at: 'body.regions', matches: /must be an array/ },
    ],
    ['{"enabled":null,"regions":["ams"]}', { code: 'invalid', at: 'body.enabled', matches: /true or false/ }],
    [
      '{"enabled":false,"Region":"ams"}',
      { code: 'invalid', at: 'body.Region', matches: /not a known field/ },
    ],
    ['{"enabled":false,"__proto__":{}}', { code: 'invalid', matches: /not a known field/ }],
    ['{"enabled":true,"enabled":false}', { code: 'invalid', at: 'body.enabled', matches: /is given twice/ }],
    ['{"enabled":true,"\\u0065nabled":false}', { code: 'invalid', matches: /is given twice/ }],
    ['[]', { code: 'invalid', matches: /must be an object/ }],
    ['[{"enabled":false}]', { code: 'invalid', matches: /must be an object/ }],
    ['null', { code: 'invalid', matches: /must be an object/ }],
    ['false', { code: 'invalid', matches: /must be an object/ }],
    ['"enabled=false"', { code: 'invalid', matches: /must be an object/ }],
    ...['null', '1', '["ams"]', '{}'].map((value): [string, Expected] => [
      `{"enabled":false,"region":${value}}`,
      { code: 'invalid', at: 'body.region', matches: /must be a string/ },
    ]),
    ...['""', '"AMS"', '"ams "', '"nowhere"', '"closed"', '"*"', '"all"'].map((value): [string, Expected] => [
      `{"enabled":false,"region":${value}}`,
      { code: 'invalid', at: 'body.region', matches: /"valid":\["ams","fra","lon"\]/ },
    ]),
    [
      `{"enabled":false,"region":"${'a'.repeat(256)}"}`,
      { code: 'invalid', at: 'body.region', matches: /255/ },
    ],
    ['{"enabled":false,"region":"ams\\u0000"}', { code: 'invalid', matches: /NUL/ }],
    ['', { code: 'malformed', matches: /The body is empty\. Send a JSON object/ }],
    [' \n ', { code: 'malformed', matches: /The body is empty\. Send a JSON object/ }],
    ['{"enabled":fal', { code: 'malformed', matches: /not valid JSON/ }],
    ["{'enabled':false}", { code: 'malformed', matches: /not valid JSON/ }],
    ['{"enabled":false,}', { code: 'malformed', matches: /not valid JSON/ }],
    ['{"enabled":false} {}', { code: 'malformed', matches: /not valid JSON/ }],
    ['{"enabled":NaN}', { code: 'malformed', matches: /not valid JSON/ }],
    ['// no\n{"enabled":false}', { code: 'malformed', matches: /not valid JSON/ }],
    ['enabled=false', { code: 'malformed', matches: /not valid JSON/ }],
    [Buffer.from('{"enabled":false}', 'utf16le'), { code: 'malformed', matches: /not valid/ }],
    [
      Buffer.from('7b22656e61626c6564ff223a66616c73657d', 'hex'),
      { code: 'malformed', matches: /not valid UTF-8/ },
    ],
    [gzipSync('{"enabled":false}'), { code: 'malformed', matches: /not valid UTF-8/ }],
    ['['.repeat(200_000), { code: 'malformed', matches: /not valid JSON/ }],
    [`${'['.repeat(200_000)}${']'.repeat(200_000)}`, { code: 'malformed', matches: /nested too deeply/ }],
    [
      `{"enabled":false,"note":"${'x'.repeat(10 * 1024 * 1024)}"}`,
      { code: 'body_too_large', matches: /larger than this operation accepts/ },
    ],
  ]
  for (const [body, expected] of bodies) {
    const shown = body.toString().slice(0, 60).replaceAll('\n', ' ')
    it(`is rejected as ${expected.code}: ${shown}`, () => assertRefused(patch(body), expected))
  }

  const mediaTypes = [
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'x',
    '',
  ]
  for (const type of mediaTypes) {
    it(`is rejected with the media type ${JSON.stringify(type)}`, () =>
      assertRefused(patch('{"enabled":false}', { 'content-type': type }), {
        code: 'unsupported_media_type',
        matches: /Send the body as application\/json/,
      }))
  }

  it('is rejected without a media type, and with a content encoding', async () => {
    const code = 'unsupported_media_type'
    await assertRefused(patch('{"enabled":false}', { 'content-type': 'text/plain' }), {
      code,
      matches: /the Content-Type is "text\/plain"/,
    })
    await assertRefused(patch('{"enabled":false}', {}), {
      code,
      matches: /has no Content-Type. Send the body as application\/json/,
    })
    const packed = patch(gzipSync('{"enabled":false}'), { ...json, 'content-encoding': 'gzip' })
    await assertRefused(packed, { code, matches: /without a Content-Encoding/ })
  })

  it('is rejected if it enables an announcement that is not validated, or suspended', async () => {
    const { unvalidated, suspended } = fixtures.red.announcements
    const enable = (id: number): Sent => ({
      ...patch('{"enabled":true}'),
      url: `/v3/ipam/announcements/${id}`,
    })
    await assertRefused(enable(unvalidated), { code: 'not_validated', matches: /Missing: irr, rpki, loa/ })
    await assertRefused(enable(suspended), { code: 'suspended', matches: /Contact the provider/ })
  })
})

describe('a toggle with further parameters', () => {
  const off = '{"enabled":false}'
  const queries: [query: string, expected: Expected][] = [
    [
      '?dryrun=true',
      { code: 'invalid', at: 'query.dryrun', matches: /known parameters are include, dry_run/ },
    ],
    ['?dry-run=true', { code: 'invalid', matches: /known parameters are include, dry_run/ }],
    ['?dry_run=', { code: 'invalid', at: 'query.dry_run', matches: /must be true or false/ }],
    ['?dry_run', { code: 'invalid', at: 'query.dry_run', matches: /must be true or false/ }],
    ['?dry_run=1', { code: 'invalid', matches: /must be true or false/ }],
    ['?dry_run=True', { code: 'invalid', matches: /must be true or false/ }],
    ['?dry_run=true&dry_run=false', { code: 'invalid', matches: /more than once/ }],
    ['?region=ams', { code: 'invalid', at: 'query.region', matches: /not a known parameter/ }],
    ['?include=everything', { code: 'invalid', at: 'query.include', matches: /region_states/ }],
    ['?dry_run=%zz', { code: 'malformed', matches: /percent-encoding/ }],
  ]
  for (const [query, expected] of queries) {
    it(`is rejected as ${expected.code}: ${query}`, () => assertRefused(patch(off, json, query), expected))
  }

  for (const key of ['', ' ', 'a b', 'x'.repeat(256), 'é']) {
    it(`is rejected with the Idempotency-Key ${JSON.stringify(key.slice(0, 10))}`, () =>
      assertRefused(patch(off, { ...json, 'idempotency-key': key }), {
        code: 'invalid',
        at: 'header.Idempotency-Key',
        matches: /1 to 255 visible ASCII characters/,
      }))
  }

  for (const tag of ['W/"1"', '1', '', 'nonsense', '"1", 2', '*, "1"']) {
    it(`is rejected with the If-Match ${JSON.stringify(tag)}, which is no strong ETag`, () =>
      assertRefused(patch(off, { ...json, 'if-match': tag }), {
        code: 'invalid',
        at: 'header.If-Match',
        matches: /must be the ETag with its quotes, such as "12"; a weak ETag/,
      }))
  }

  it('is rejected with an If-Match that the operation does not take', () =>
    assertRefused(
      { ...patch('{}', { ...json, 'if-match': '"1"' }), method: 'POST', url: '/v3/ipam/announcements' },
      { code: 'invalid', at: 'header.If-Match', matches: /is not accepted by this operation/ },
    ))

  for (const tag of ['"0"', '"2"', '"0", "2"']) {
    it(`is rejected with the If-Match ${JSON.stringify(tag)}`, () =>
      assertRefused(patch(off, { ...json, 'if-match': tag }), {
        code: 'precondition_failed',
        matches: /its ETag is now "1"/,
      }))
  }
})

describe('a path', () => {
  const ids = [
    '0',
    '-1',
    '01',
    '1.0',
    '1e3',
    '0x1',
    '+1',
    '%31%20',
    '1,2',
    '*',
    'abc',
    'null',
    '%00',
    '%D9%A1',
  ]
  const large = ['9007199254740993', '1000000000000000', '999999999999999', '2147483648', '9'.repeat(301)]
  for (const id of [...ids, ...large]) {
    it(`with the id ${id.slice(0, 20)} returns not_found for every operation`, async () => {
      const url = `/v3/ipam/announcements/${id}`
      const expected: Expected = { code: 'not_found', matches: /There is no such/ }
      await assertRefused({ url }, expected)
      await assertRefused({ ...patch('{"enabled":false}'), url }, expected)
      await assertRefused({ url: `/v3/lighthouse/security/events/related/${id}` }, expected)
    })
  }

  it('of another team returns the same as one that does not exist', async () => {
    const { announcements, eventIds } = fixtures.blue
    const expected: Expected = { code: 'not_found', matches: /There is no such/ }
    for (const id of Object.values(announcements)) {
      await assertRefused({ url: `/v3/ipam/announcements/${id}` }, expected)
      await assertRefused({ ...patch('{"enabled":false}'), url: `/v3/ipam/announcements/${id}` }, expected)
    }
    await assertRefused({ url: `/v3/lighthouse/security/events/related/${eventIds[0]}` }, expected)
  })

  const paths: [url: string, expected: Expected][] = [
    ['/v3/ipam/announcements/', { code: 'not_found', matches: /no such/ }],
    ['/v3/ipam/Announcements', { code: 'not_found', matches: /no such path/ }],
    ['/V3/ipam/announcements', { code: 'not_found', matches: /no such path/ }],
    ['/v3//ipam/announcements', { code: 'not_found', matches: /no such path/ }],
    ['/v3/ipam/announcements/1/', { code: 'not_found', matches: /no such path/ }],
    ['/v3/ipam/announcements/1%2F', { code: 'not_found', matches: /no such/ }],
    ['/v4/ipam/announcements', { code: 'not_found', matches: /no such path/ }],
    ['/v3/ipam/announcements/%zz', { code: 'malformed', matches: /percent-encoding/ }],
    ['/v3/ipam/announcements/%', { code: 'malformed', matches: /percent-encoding/ }],
  ]
  for (const [url, expected] of paths) {
    it(`is rejected as ${expected.code}: ${url}`, () => assertRefused({ url }, expected))
  }

  for (const method of ['PUT', 'POST'] as const) {
    it(`rejects ${method} if only others are allowed, and lists those`, async () => {
      const sent = { ...patch('{"enabled":false}'), method }
      await assertRefused(sent, {
        code: 'method_not_allowed',
        matches: /Use one of these methods: GET, HEAD, PATCH, DELETE\./,
      })
      assert.match(String((await send(sent)).headers.allow), /PATCH/)
    })
  }
})

describe('a query', () => {
  const announcements = '/v3/ipam/announcements'
  const events = '/v3/lighthouse/security/events/related'
  const paging: [query: string, matches: RegExp][] = [
    ['limit=0', /1/],
    ['limit=1001', /1000/],
    ['limit=-1', /1/],
    ['limit=', /whole number in decimal digits/],
    ['limit', /whole number in decimal digits/],
    ['limit=ten', /whole number in decimal digits/],
    ['limit=1.5', /whole number in decimal digits/],
    ['limit=1e2', /whole number in decimal digits/],
    ['limit=0x10', /whole number in decimal digits/],
    ['limit=%2010', /whole number in decimal digits/],
    ['limit=+10', /whole number in decimal digits/],
    ['limit=010', /whole number in decimal digits/],
    ['limit=99999999999999999999', /whole number in decimal digits/],
    ['limit=1&limit=2', /more than once/],
    ['limit=10;offset=5', /whole number in decimal digits/],
    ['limit[]=10', /not a known parameter/],
    ['Limit=10', /not a known parameter \(did you mean limit\?\); known parameters are .*limit/],
    ['page=2', /not a known parameter/],
    ['__proto__=1', /not a known parameter/],
    ['constructor=1', /not a known parameter/],
    ['=1', /not a known parameter/],
    ['offset=-1', /0/],
    ['offset=', /whole number in decimal digits/],
    ['offset=1000000000000000', /whole number in decimal digits/],
    ['ordering=', /has the unknown key/],
    ['ordering=nothing', /has the unknown key/],
    ['ordering=-', /has the unknown key/],
    ['ordering=--id', /has the unknown key/],
    ['ordering=id,', /has the unknown key/],
    ['ordering=id;drop table events', /has the unknown key/],
  ]
  const ofAnnouncements: [query: string, matches: RegExp][] = [
    ['enabled=', /must be true or false/],
    ['enabled=1', /must be true or false/],
    ['enabled=TRUE', /must be true or false/],
    ['enabled=true&enabled=false', /more than once/],
    ['origin_asn=', /integer/],
    ['origin_asn=0', /1/],
    ['origin_asn=4294967296', /4294967295/],
    ['origin_asn=AS64496', /integer/],
    ['region=', /region/],
    ['status=', /must be one of pending_validation/],
    ['status=Announced', /must be one of pending_validation/],
    ['status=announced,withdrawn', /repeat the parameter: status=announced&status=withdrawn/],
    ['origin_asn=64496,64497', /repeat the parameter: origin_asn=64496&origin_asn=64497/],
    ['region=AMS', /did you mean ams\?.*"suggestion":"ams"/],
    ['family=', /must be one of 4, 6/],
    ['family=ipv4', /must be one of 4, 6/],
    ['include=', /region_states/],
    ['include=region_states,', /region_states/],
    ['include=validation', /did you mean validations\?.*"allowed":.*"suggestion":"validations"/],
    [`include=${'details,'.repeat(20)}details`, /at most 20 elements; this has 21/],
    ['pending_delete', /not a known parameter/],
    ['dry_run=true', /not a known parameter/],
    ['cidr=', /cidr/],
    ['cidr=203.0.113.1/24', /"canonical":"203\.0\.113\.0\/24"/],
    ['cidr=2001:db8::1/48', /"canonical":"2001:db8::\/48"/],
    ['cidr=::ffff:203.0.113.0/120', /IPv4/],
    ['cidr=::ffff:203.0.113.7', /IPv4/],
    ['cidr=203.0.113.0/33', /cidr/],
    ['cidr=203.0.113.0/-1', /cidr/],
    ['cidr=203.0.113.0/', /cidr/],
    ['cidr=203.0.113/24', /cidr/],
    ['cidr=203.0.113.010/32', /cidr/],
    ['cidr=0xcb007100/24', /cidr/],
    ['cidr=3405803776', /cidr/],
    ['cidr=2001:db8:::/48', /cidr/],
    ['cidr=fe80::1%25eth0', /cidr/],
    ['cidr=everything', /cidr/],
    ['cidr=203.0.113.0/24&cidr=no', /cidr/],
  ]
  const ofEvents: [query: string, matches: RegExp][] = [
    ['flag=incoming', /must be one of INCOMING/],
    ['flag=INCOMING,OUTGOING', /must be one of INCOMING/],
    ['start=yesterday', /ISO 8601/],
    ['start=1767225600', /ISO 8601/],
    ['start=2026-02-30', /ISO 8601/],
    ['start=2026-01-01T24:01:00Z', /ISO 8601/],
    ['start=2026-01-01T10:00:00 02:00', /encode \+ as %2B/],
    ['end=0000-01-01', /ISO 8601/],
    ['start=2026-02-01&end=2026-01-01', /must not be before start/],
    ['affected_network=203.0.113.1/24', /"canonical":"203\.0\.113\.0\/24"/],
    ['affected_network=::ffff:203.0.113.1', /IPv4/],
    ['affected_network=203.0.113.0/33', /affected_network/],
    ['state=EVENT_PENDING', /not a known parameter/],
  ]
  const tables = [
    [announcements, [...paging, ...ofAnnouncements]],
    [events, [...paging, ...ofEvents]],
    ['/v3/ipam/regions', paging],
  ] as const
  for (const [path, queries] of tables) {
    for (const [query, matches] of queries) {
      it(`of ${path} is rejected: ${query}`, () =>
        assertRefused(
          { url: `${path}?${encodeURI(query)}`.replaceAll('%25', '%') },
          { code: 'invalid', matches },
        ))
    }
    it(`of ${path} is rejected if its encoding is invalid`, async () => {
      for (const broken of ['%', 'limit=%f', 'limit=%ff', '%e0%80=1', 'limit=1&%zz'])
        await assertRefused({ url: `${path}?${broken}` }, { code: 'malformed', matches: /percent-encoding/ })
    })
    it(`of ${path} is rejected with a NUL`, () =>
      assertRefused({ url: `${path}?limit=1%00` }, { code: 'invalid', matches: /NUL/ }))
  }

  it('may have empty values for fields that the specification calls nullable, and only for those', async () => {
    const empty = 'flag=&start=&end=&affected_network=&description='
    const [none, some] = [await send({ url: events }), await send({ url: `${events}?${empty}` })]
    assert.equal(some.statusCode, 200)
    assert.deepEqual(some.json(), none.json())
  })

  it('may filter by address family alone, and returns rows of the team only', async () => {
    for (const [cidr, family] of [
      ['0.0.0.0/0', '4'],
      ['::/0', '6'],
    ]) {
      const wide = await send({ url: `${announcements}?cidr=${cidr}` })
      const byFamily = await send({ url: `${announcements}?family=${family}` })
      assert.ok(wide.json().count > 0)
      assert.deepEqual(wide.json(), byFamily.json())
    }
  })

  it('gets all errors at once', async () => {
    const response = await send({ url: `${announcements}?limit=0x1&offset=-1.5&nothing=1&enabled=` })
    const places = response.json().errors.map(({ loc }: { loc: string[] }) => loc[1])
    assert.deepEqual(places.toSorted(), ['enabled', 'limit', 'nothing', 'offset'])
  })
})

describe("a detector's delivery", () => {
  const deliver = (body: string | Buffer, headers: Record<string, string> = {}): Sent => ({
    method: 'POST',
    url: '/v3/ingest/events/detector',
    headers: { authorization: `Token ${fixtures.sources.detector}`, ...headers },
    body,
  })

  const bodies: [what: string, body: string | Buffer, headers?: Record<string, string>][] = [
    ['is not JSON', 'ip=203.0.113.7 action=ban'],
    ['is empty', ''],
    ['is incomplete JSON', '{"action":"ban","ip":"203.0.113.7"'],
    ['has a duplicate key', '{"action":"ban","action":"unban"}'],
    ['is not UTF-8', Buffer.from([0xff, 0xfe, 0x00])],
    ['is of an unknown vendor', '{"alarm":1}', { 'content-type': 'application/xml' }],
    ['has a malformed media type', '{"alarm":1}', { 'content-type': '*' }],
    ['has an empty media type', '{"alarm":1}', { 'content-type': '' }],
    ['has a hundred thousand levels of brackets', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['is three megabytes long', `{"text":"${'x'.repeat(3_000_000)}"}`],
  ]
  for (const [what, body, headers] of bodies) {
    it(`that ${what} is stored as received, with the reason why it cannot be read`, async () => {
      const answer = await send(deliver(body, headers))
      assert.equal(answer.statusCode, 202, answer.body)
      await ingestDeliveries(api.database.postgres, createOwnershipCache())
      const { rows } = await sql<{ body: Buffer; state: string; error: string }>`
        select body, state, error from deliveries where delivery_id = ${answer.json().delivery_id}`.execute(
        api.database.postgres.owner,
      )
      assert.ok(Buffer.from(body as string).equals(rows[0]!.body))
      assert.equal(rows[0]!.state, 'failed')
      assert.ok(rows[0]!.error.length > 5)
    })
  }

  it('that is too large is rejected with a fix, and not stored', () =>
    assertRefused(deliver('x'.repeat(5 * 1024 * 1024)), { code: 'body_too_large', matches: /larger than/ }))

  it('with a wrong secret is refused and not stored, whatever its content', () =>
    assertRefused(
      { ...deliver('{}'), headers: { authorization: 'Token wrong' } },
      { code: 'unauthenticated', matches: /secret of the source/ },
    ))

  it('that is repeated gets the same response and is stored once', async () => {
    const one = deliver('{"a":1}', { 'idempotency-key': 'the same' })
    const answers = [await send(one), await send(one), await send(one)]
    assert.deepEqual([...new Set(answers.map(({ body }) => body))], ['{"delivery_id":"the same"}'])
    const { rows } = await sql`select from deliveries where delivery_id = 'the same'`.execute(
      api.database.postgres.owner,
    )
    assert.equal(rows.length, 1)
  })
})

describe('a session request', () => {
  const post = (url: string, body: string): Sent => ({ method: 'POST', url, headers: json, body })
  const bodies: [url: string, body: string, expected: Expected][] = [
    ['refresh', '{}', { code: 'invalid', at: 'body.refresh', matches: /is required/ }],
    ['refresh', '{"refresh":null}', { code: 'invalid', at: 'body.refresh', matches: /must be a string/ }],
    ['refresh', '{"refresh":""}', { code: 'invalid', at: 'body.refresh', matches: /1/ }],
    [
      'refresh',
      '{"refresh":"a","token":"b"}',
      { code: 'invalid', matches: /known fields are refresh, etag/ },
    ],
    ['refresh', '{"refresh":"a"}', { code: 'token_not_valid', matches: /Sign in again/ }],
    ['refresh?etag=', '{"refresh":"a"}', { code: 'invalid', at: 'query.etag', matches: /1/ }],
    ['token', '{}', { code: 'invalid', matches: /is required/ }],
    [
      'token',
      '{"email":"a@b.example","password":""}',
      { code: 'invalid', at: 'body.password', matches: /1/ },
    ],
    ['token', '{"email":["a"],"password":"b"}', { code: 'invalid', matches: /must be a string/ }],
    ['token', '{"team_id":"1"}', { code: 'invalid', matches: /must be a whole number/ }],
    ['token', '{"team_id":1.5}', { code: 'invalid', matches: /must be a whole number/ }],
    ['token', '{"team_id":2147483648}', { code: 'not_found', matches: /There is no such team/ }],
    ['token', '{"team_id":9007199254740993}', { code: 'invalid', matches: /999999999999999/ }],
    ['logout', '{"all":"true"}', { code: 'invalid', at: 'body.all', matches: /must be true or false/ }],
    ['logout', '{"refresh":null}', { code: 'invalid', at: 'body.refresh', matches: /must be a string/ }],
  ]
  for (const [path, body, expected] of bodies) {
    it(`is rejected as ${expected.code}: ${path} ${body}`, () =>
      assertRefused(post(`/v3/session/${path}`, body), expected))
  }
})
