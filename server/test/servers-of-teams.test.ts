// Every place where a team names a host or a port to which Pharos connects: addresses and ports that the provider does
// not allow are refused, and the message about a server that does not answer does not depend on its port. New fields
// are found in the contract.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { routes } from '@pharos/contract/document/routes'
import { addTeam, addUser, createTestApi, type TestApi } from './api.ts'

/** The ports of dns_ports_allowed: the listeners here have ephemeral ports. */
const allowed = '53, 1024-65535'

type Use =
  /** Pharos connects to it: tested below. */
  | 'server'
  | 'webhook'
  /** Pharos connects to it, by https to public addresses: single-sign-on.test.ts, saml-sign-in.test.ts and drivers/outgoing. */
  | 'issuer'
  /** A name that the provider's resolvers resolve, as the targets of ALIAS records are: no connection to its addresses. */
  | 'resolved'
  /** Stored, published or compared. */
  | 'data'

const uses: Readonly<Record<string, Use>> = {
  'createZone.primaries[].address': 'server',
  'createZone.primaries[].port': 'server',
  'importZone.axfr.server': 'server',
  'importZone.axfr.port': 'server',
  'updateZoneSettings.also_notify[].address': 'server',
  'updateZoneSettings.also_notify[].port': 'server',
  'createWebhook.url': 'webhook',
  'updateWebhook.url': 'webhook',
  'createProvider.issuer': 'issuer',
  'createProvider.metadata_url': 'issuer',
  'updateProvider.metadata_url': 'issuer',
  // Only the browser of a person opens it.
  'createProvider.sign_on_url': 'data',
  'updateProvider.sign_on_url': 'data',
  'addDomain.domain': 'resolved',
  'createBlackhole.host': 'data',
  'createBlackhole.event_id': 'data',
  'simulateShield.rules[].source_port': 'data',
  'simulateShield.rules[].destination_port': 'data',
  'updateShieldRules.rules[].source_port': 'data',
  'updateShieldRules.rules[].destination_port': 'data',
  // As in the answer to a change.
  'updateRecordSet.warnings[].address': 'data',
  'addMember.email': 'data',
  'createFirstAccount.email': 'data',
  'createZone.nameservers[]': 'data',
  'updateZoneSettings.nameservers[]': 'data',
  'updateZoneSettings.soa.rname': 'data',
  'updateTeam.abuse_email': 'data',
  'updateTeam.billing_email': 'data',
  'updateTeam.technical_email': 'data',
}

/** Names of fields that could be a host or a port. */
const isSuspect = (path: string, description: string): boolean =>
  /(^|[._])(address|host|url|uri|server|port|domain|nameservers|rname|email|issuer)(\[\])?$/.test(path) ||
  /\b(host|server|URL)\b/.test(description)

describe('hosts and ports that teams name', () => {
  it('are all known here', () => {
    const found = new Set<string>()
    for (const { name, path, body } of routes)
      if (body && !path.startsWith('/v3/admin') && !path.startsWith('/v3/session'))
        walk(body as Schema, name, (at, text) => void (isSuspect(at, text) && found.add(at)))
    assert.deepEqual([...found].filter((at) => !(at in uses)).toSorted(), [])
    assert.deepEqual(
      Object.keys(uses)
        .filter((at) => !found.has(at))
        .toSorted(),
      [],
    )
  })
})

type Schema = {
  readonly type?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

function walk(schema: Schema | undefined, at: string, visit: (at: string, text: string) => void): void {
  if (!schema) return
  if (schema.type === 'string' || schema.type === 'integer') visit(at, schema.description ?? '')
  for (const [name, field] of Object.entries(schema.properties ?? {})) walk(field, `${at}.${name}`, visit)
  walk(schema.items, `${at}[]`, visit)
  for (const one of schema.anyOf ?? []) walk(one, at, visit)
}

let api: TestApi
let bearer: string
let key: string
before(async () => {
  api = await createTestApi({
    PHAROS_DNS_PORTS_ALLOWED: allowed.replace(' ', ''),
    PHAROS_WEBHOOK_PORTS_ALLOWED: '443,8443',
  })
  const team = await addTeam(api, 'red', ['dns', 'ipam'])
  const { email } = await addUser(api, 'admin', [team], { admin: true })
  bearer = (await api.signIn(email)).access
  const token = await post('/v3/tokens', { name: 'dns', scopes: ['dns:read', 'dns:write'], is_admin: true })
  key = token.body.token
  assert.equal((await post('/v3/dns/zones', { name: 'red.example' })).status, 201)
})
after(() => api[Symbol.asyncDispose]())

async function call(method: 'POST' | 'PUT', url: string, payload: object, as?: string) {
  const headers = as === undefined ? { authorization: `Bearer ${bearer}` } : { 'x-api-key': as }
  const { statusCode, body } = await api.server.inject({ method, url, headers, payload })
  return { status: statusCode, text: body, body: body === '' ? null : JSON.parse(body) }
}
const post = (url: string, payload: object) => call('POST', url, payload)

const powerdns = '/api/v1/servers/localhost/zones'
const printed = (address: string, port: number) =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`

type Place = {
  readonly loc: string
  readonly send: (address: string, port: number) => ReturnType<typeof call>
}
const places: Readonly<Record<string, Place>> = {
  'primaries of a zone': {
    loc: 'body.primaries.0',
    send: (address, port) =>
      post('/v3/dns/zones', { name: 'new.example', kind: 'secondary', primaries: [{ address, port }] }),
  },
  'a source of an import': {
    loc: 'body.axfr',
    send: (server, port) =>
      post('/v3/dns/zones/import', { name: 'new.example', mode: 'create', axfr: { server, port } }),
  },
  'servers for NOTIFY': {
    loc: 'body.also_notify.0',
    send: (address, port) =>
      call('PUT', '/v3/dns/zones/red.example/settings', { also_notify: [{ address, port }] }),
  },
  'masters of PowerDNS': {
    loc: '',
    send: (address, port) =>
      call(
        'POST',
        powerdns,
        { name: 'new.example.', kind: 'Slave', masters: [printed(address, port)], nameservers: [] },
        key,
      ),
  },
  'ALSO-NOTIFY of PowerDNS': {
    loc: '',
    send: (address, port) =>
      call(
        'PUT',
        `${powerdns}/red.example./metadata/ALSO-NOTIFY`,
        { metadata: [printed(address, port)] },
        key,
      ),
  },
}

describe('a name server of a team', () => {
  for (const [name, { loc, send }] of Object.entries(places))
    it(`is neither inside the provider's networks nor at another port: ${name}`, async () => {
      for (const address of ['10.0.0.53', '169.254.169.254', 'fd00::53'])
        refuses(
          await send(address, 53),
          loc === '' ? loc : `${loc}.${loc.endsWith('axfr') ? 'server' : 'address'}`,
        )
      for (const port of [22, 25, 80, 1023]) {
        const { text } = refuses(await send('192.0.2.53', port), loc === '' ? loc : `${loc}.port`)
        assert.ok(text.includes(allowed), text)
      }
    })

  function refuses<A extends Awaited<ReturnType<typeof call>>>(answer: A, loc: string): A {
    assert.equal(answer.status, 422, answer.text)
    if (loc !== '') assert.equal(answer.body.errors[0].loc.join('.'), loc)
    return answer
  }

  it('that does not answer as one is described in the same way, and as late as by silence, whatever its port does', async () => {
    await using open = await listen((socket) => socket.resume())
    await using closing = await listen((socket) => socket.destroy())
    await using web = await listen((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n')),
    )
    await using closed = await listen(() => {})
    await closed.close()
    const began = performance.now()
    const answers = [closing, web, closed, open].map(async ({ port }) => {
      const { status, body, text } = await places['a source of an import']!.send('127.0.0.1', port)
      assert.equal(status, 422, text)
      assert.ok(performance.now() - began > 10_000, 'the time of a server that accepts and is silent')
      return body.errors[0].msg.replace(String(port), 'PORT')
    })
    const texts = new Set(await Promise.all(answers))
    assert.deepEqual(
      [...texts],
      ['must hand out the zone by AXFR: no name server answers at 127.0.0.1, port PORT'],
    )
  })

  it('that is wrong is still named exactly: it refuses the transfer', async () => {
    await using refusing = await listen((socket) =>
      socket.once('data', (query: Buffer) => {
        const answer = Buffer.from(query)
        answer.writeUInt16BE(0x8005, 4)
        socket.end(answer)
      }),
    )
    const { body } = await places['a source of an import']!.send('127.0.0.1', refusing.port)
    assert.match(body.errors[0].msg, /refused the transfer with RCODE 5/)
  })
})

it('the URL of a webhook has a port that the provider allows', async () => {
  const events = ['event.started']
  const hook = (url: string) => post('/v3/webhooks', { url, events })
  assert.equal((await hook('https://hooks.example.net:8443/x')).status, 201)
  for (const port of [80, 1024, 3306, 8080, 9000]) {
    const { status, body } = await hook(`https://hooks.example.net:${port}/x`)
    assert.deepEqual([status, body.errors?.[0].type], [422, 'port'])
  }
})

it('the issuer of an identity provider has a port that the provider allows', async () => {
  const add = (issuer: string) =>
    post('/v3/teams/current/providers', {
      kind: 'oidc',
      name: 'Login',
      issuer,
      client_id: 'a',
      client_secret: 'b',
    })
  for (const port of [22, 80, 3306, 9000]) {
    const { status, body } = await add(`https://login.example.net:${port}/realms/acme`)
    assert.deepEqual([status, body.errors?.[0].type], [422, 'port'])
  }
  assert.equal((await add('https://login.example.net:8443/realms/acme')).status, 201)
})

async function listen(onSocket: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    onSocket(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    if (!server.listening) return
    server.close()
    await once(server, 'close')
  }
  return { port, close, [Symbol.asyncDispose]: close }
}
