// The client against a NetBox of the test: credentials, pages, and every way in which a list can be incomplete.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { Type } from 'typebox'
import { createNetboxClient, type NetboxRejection } from './client.ts'
import { noFaults, startTestNetbox, type TestNetbox } from './testing-netbox.ts'

const Thing = Type.Object({ id: Type.Integer(), name: Type.String() })
const things = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ id: at + 1, name: `t${at}`, unknown: { more: true } }))

let netbox: TestNetbox

before(async () => void (netbox = await startTestNetbox({ 'x/things': things(5) })))
after(() => netbox[Symbol.asyncDispose]())
beforeEach(() => {
  Object.assign(netbox.faults, noFaults())
  netbox.lists['x/things'] = things(5)
  netbox.requests.length = 0
})

const clientWith = (token = 'a'.repeat(40)) => createNetboxClient({ url: netbox.url, token, retryMs: 1 })

async function read(token?: string): Promise<unknown[]> {
  const rows = clientWith(token).list('x/things', [], Thing, AbortSignal.timeout(10_000))
  return Array.fromAsync(rows)
}

describe('a list of NetBox', () => {
  it('is read with tokens of both versions, without unknown fields', async () => {
    assert.deepEqual((await read())[0], { id: 1, name: 't0' })
    await read('nbt_key.secret')
    assert.deepEqual(
      netbox.requests.map(({ authorization }) => authorization),
      [`Token ${'a'.repeat(40)}`, 'Bearer nbt_key.secret'],
    )
    assert.match(netbox.requests[0]!.url, /^\/api\/x\/things\/\?ordering=id&limit=1000$/)
  })

  it('continues after pages that are shorter than asked for, and asks for a page only when it is needed', async () => {
    netbox.faults.pageMax = 2
    assert.equal((await read()).length, 5)
    netbox.requests.length = 0
    for await (const _ of clientWith().list('x/things', [], Thing, AbortSignal.timeout(10_000))) break
    assert.equal(netbox.requests.length, 1)
  })

  it('is repeated after 429 and 5xx, and not for ever', async () => {
    netbox.faults.answers = [{ status: 429, headers: { 'retry-after': '0' } }, { status: 503 }]
    assert.equal((await read()).length, 5)
    netbox.faults.pageMax = 2
    netbox.faults.failFrom = 2
    await assert.rejects(read(), { name: 'DriverError', kind: 'unreachable', message: /HTTP status 500/ })
    assert.equal(netbox.requests.length, 3 + 1 + 4)
  })

  for (const countBy of [-1, 1])
    it(`fails if the count differs by ${countBy}`, async () => {
      netbox.faults.countBy = countBy
      await assert.rejects(read(), { kind: 'protocol', message: /5 objects were read, NetBox counted/ })
    })

  it('fails if an object is on two pages', async () => {
    netbox.lists['x/things'] = [...things(2), ...things(2)]
    await assert.rejects(read(), { kind: 'protocol', message: /object 1 is repeated/ })
  })

  it('never sends the token to another server', async () => {
    netbox.faults.pageMax = 2
    netbox.faults.nextOrigin = 'http://127.0.0.2:1'
    await assert.rejects(read(), {
      kind: 'protocol',
      message: /next page is http:\/\/127\.0\.0\.2:1.*X-Forwarded-Proto/,
    })
    netbox.faults.answers = [{ status: 302, headers: { location: 'http://127.0.0.2:1/' } }]
    await assert.rejects(read(), { kind: 'protocol', message: /HTTP status 302/ })
  })

  it('names the object and the field that are wrong', async () => {
    netbox.lists['x/things'] = [
      { id: 1, name: 't' },
      { id: 2, name: 7 },
    ]
    await assert.rejects(read(), { kind: 'protocol', message: /^x\/things 2: name must be .*7/ })
  })

  it('is refused without the token in the message', async () => {
    netbox.faults.answers = [{ status: 403 }]
    await assert.rejects(read('nbt_key.secret'), ({ kind, message }: { kind: string } & Error) => {
      assert.equal(kind, 'refused')
      return !message.includes('secret')
    })
  })

  it('shows what NetBox says about a request that it rejects, without the token, and no page of a proxy', async () => {
    const answer = (status: number, body: unknown) => (netbox.faults.answers = [{ status, body }])
    answer(400, { status: ['Select a valid choice. actve is not one of the available choices.'] })
    await assert.rejects(read(), (error: NetboxRejection) => {
      assert.deepEqual(error.parameters, ['status'])
      return /HTTP status 400: \{"status":\["Select a valid choice\. actve is not/.test(error.message)
    })
    answer(403, { detail: 'Invalid token nbt_key.secret' })
    await assert.rejects(read('nbt_key.secret'), {
      message: /403: \{"detail":"Invalid token \*\*\*"\}; check/,
    })
    answer(404, '<html>\n<body>Not here</body>')
    await assert.rejects(read(), { message: /HTTP status 404$/ })
    answer(400, 'x'.repeat(100_000))
    await assert.rejects(read(), ({ message }: Error) => message.length < 400)
  })

  it('names the version of a NetBox whose objects have another form', async () => {
    netbox.faults.version = '3.5'
    netbox.lists['x/things'] = [{ id: 1 }]
    await assert.rejects(read(), { kind: 'protocol', message: /NetBox 3\.5; 3\.6 and later are supported/ })
  })

  it('is not a page of something else', async () => {
    netbox.faults.answers = [{ status: 200 }]
    await assert.rejects(read(), { kind: 'protocol', message: /is not a page of NetBox/ })
  })
})
