// The URLs of visibility sources, and mutated documents and messages: the parsers throw their documented errors only.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { parseBgpState, routesIn } from './collectors/bgp-state.ts'
import { updatesOfAlert } from './collector-files/source.ts'
import { parsePrefix } from '../net/prefix.ts'
import { clientMessage, parseRisMessage, prefixSubscription } from './ris-live/message.ts'
import { parseRisLiveUrl } from './ris-live/url.ts'
import { visibilityDrivers } from './visibility-sources.ts'
import { scaled } from '../runtime/testing-scale.ts'

const now = new Date('2026-03-01T10:00:00Z')

describe('the URL of a visibility source', () => {
  it('selects the driver', () => {
    visibilityDrivers.checkAll([
      'wss://ris-live.ripe.net/v1/ws/?client=example',
      'ws://127.0.0.1:8080/?table=http://127.0.0.1/state&reference=192.0.2.0/24',
      'file:/var/lib/bgpalerter/alertdata',
      'https://tools.net.example/state.json',
      'sandbox:300?stuck=192.0.2.0/24',
    ])
  })

  for (const [url, message] of [
    ['ftp://x', /write wss:.*or file:/],
    ['wss:', /write wss:/],
    ['wss://x/#y', /write wss:/],
    ['wss://x/?table=file:/x', /table is one URL/],
    ['wss://x/?table=http://a/&table=http://b/', /table is one URL/],
    ['wss://x/?reference=10', /reference 10: /],
    ['file://host/path', /write file:/],
    ['sandbox:x', /write sandbox:/],
    ['sandbox:10?stuck=10.0.0.1/8', /host bits/],
  ] as const)
    it(`is rejected with the reason: ${url}`, () => {
      assert.throws(
        () => visibilityDrivers.checkAll([url]),
        (error: Error) => message.test(error.message),
      )
    })

  it('is listed once', () => {
    assert.throws(() => visibilityDrivers.checkAll(['sandbox:1', 'sandbox:1']), /listed twice/)
  })

  it('is sent without our own parameters, and shown without any', () => {
    const { name, url, table, references } = parseRisLiveUrl(
      'wss://user:pass@ris.example/ws/?client=me&table=https://stat.example/x&reference=192.0.2.0/24',
    )
    assert.equal(name, 'wss://ris.example/ws/')
    assert.equal(url.search, '?client=me')
    assert.equal(table!.href, 'https://stat.example/x')
    assert.deepEqual(references, ['192.0.2.0/24'])
    assert.deepEqual(parseRisLiveUrl('wss://ris.example/').references.length, 4)
  })
})

/** Messages as RIS Live sends them; the addresses and ASNs are reserved for documentation. */
const update = {
  type: 'ris_message',
  data: {
    timestamp: 1_772_359_199.25,
    peer: '2001:DB8::5',
    peer_asn: '64501',
    id: '20-5761-238131559',
    host: 'rrc20.ripe.net',
    type: 'UPDATE',
    path: [64501, 64500, [64510, 64511], 64496],
    community: [[64500, 1]],
    origin: 'igp',
    announcements: [
      { next_hop: '2001:db8::5,fe80::1', prefixes: ['2001:db8:a::/48', 'eor', '2001:db8::1/48'] },
      { next_hop: 'fe80::1', prefixes: ['2001:db8:a::/48'] },
    ],
    withdrawals: ['2001:db8:b::/48', 7],
  },
}

describe('a message of RIS Live', () => {
  const parse = (message: unknown) => parseRisMessage(JSON.stringify(message), now)

  it('is an update with its valid prefixes', () => {
    assert.deepEqual(parse(update), {
      kind: 'update',
      collector: '2001:db8::5',
      at: new Date(1_772_359_199_250),
      path: [64501, 64500, 64496],
      announced: ['2001:db8:a::/48', '2001:db8:a::/48'],
      withdrawn: ['2001:db8:b::/48'],
    })
  })

  it('is a route of the peer itself if it has no path, and never from the future', () => {
    const { path: _path, ...data } = { ...update.data, timestamp: 9e9 }
    const parsed = parse({ type: 'ris_message', data })
    assert.ok(parsed.kind === 'update')
    assert.deepEqual([parsed.path, parsed.at], [[64501], now])
  })

  it('is the end of a session, an error, a pong, or of no use', () => {
    const state = { ...update.data, type: 'RIS_PEER_STATE' }
    assert.equal(parse({ type: 'ris_message', data: { ...state, state: 'down' } }).kind, 'peer_down')
    assert.equal(parse({ type: 'ris_message', data: { ...state, state: 'connected' } }).kind, 'other')
    assert.equal(parse({ type: 'ris_message', data: { ...update.data, type: 'KEEPALIVE' } }).kind, 'other')
    assert.deepEqual(parse({ type: 'ris_error', data: { message: 'x' } }), { kind: 'error', text: 'x' })
    assert.equal(parse({ type: 'pong', data: null }).kind, 'pong')
    assert.equal(parse({ type: 'ris_subscribe_ok', data: {} }).kind, 'other')
  })

  it('is rejected with a TypeError if it is no message', () => {
    for (const text of ['', '{', '[]', 'null', '1', '"x"', '{}', '{"type":1}'])
      assert.throws(() => parseRisMessage(text, now), TypeError)
  })

  it('of the client has the documented form', () => {
    const subscription = prefixSubscription(parsePrefix('192.0.2.0/24'), true)
    assert.deepEqual(JSON.parse(clientMessage('ris_subscribe', subscription)), {
      type: 'ris_subscribe',
      data: {
        type: 'UPDATE',
        prefix: '192.0.2.0/24',
        moreSpecific: true,
        lessSpecific: false,
        socketOptions: { includeRaw: false, acknowledge: false },
      },
    })
    assert.deepEqual(JSON.parse(clientMessage('ping')), { type: 'ping', data: null })
  })
})

const table = {
  status: 'ok',
  data: {
    resource: '203.0.113.0/24, 198.51.100.0/24',
    query_time: '2026-03-01T09:58:00',
    bgp_state: [
      { target_prefix: '203.0.113.0/24', source_id: '00-192.0.2.1', path: [64501, 64496], community: [] },
      { target_prefix: '203.0.113.0/25', source_id: '01-2001:db8::1', path: [64502, 64511] },
      { target_prefix: '203.0.113.0/24', source_id: 'none', path: [64501, 64496] },
      { target_prefix: 'x', source_id: '00-192.0.2.1', path: [64501] },
      null,
    ],
  },
}

describe('a table of RIPEstat', () => {
  it('has the routes of each prefix, and none for a prefix that was queried', () => {
    const state = parseBgpState(table)
    assert.deepEqual(state.at, new Date('2026-03-01T09:58:00Z'))
    const of = (prefix: string) => routesIn(state, parsePrefix(prefix))
    assert.deepEqual(of('203.0.113.0/24'), [{ collector: '192.0.2.1', path: [64501, 64496] }])
    assert.deepEqual(of('203.0.113.0/25'), [{ collector: '2001:db8::1', path: [64502, 64511] }])
    assert.deepEqual(of('198.51.100.0/24'), [])
    assert.equal(of('192.0.2.0/24'), undefined)
  })

  it('needs its time and its list', () => {
    assert.throws(() => parseBgpState({ data: { ...table.data, query_time: 'x' } }), /query_time/)
    assert.throws(() => parseBgpState({ data: { ...table.data, bgp_state: {} } }), /bgp_state/)
    assert.throws(() => parseBgpState(null), TypeError)
  })
})

const alert = {
  id: '64511-203.0.113.0/24',
  data: [
    {
      timestamp: 1,
      matchedMessage: {
        type: 'announcement',
        prefix: '203.0.113.0/24',
        peer: '192.0.2.1',
        path: [64501, 64511],
        originAS: [64511],
        timestamp: 1_772_000_000_000,
      },
    },
    { matchedMessage: { type: 'withdrawal', prefix: '203.0.113.0/24', peer: '192.0.2.2', timestamp: 5 } },
    { matchedMessage: { type: 'roa', prefix: '203.0.113.0/24' } },
    {},
  ],
}

describe('an alert of BGPalerter', () => {
  it('has the BGP messages that caused it', () => {
    assert.deepEqual(updatesOfAlert(alert, now), [
      {
        prefix: '203.0.113.0/24',
        collector: '192.0.2.1',
        path: [64501, 64511],
        at: new Date(1_772_000_000_000),
      },
      { prefix: '203.0.113.0/24', collector: '192.0.2.2', path: null, at: new Date(5) },
    ])
  })
})

describe('mutated documents', () => {
  const strange = [
    null,
    true,
    -1,
    Number.MAX_VALUE,
    9e15,
    '',
    '\0',
    'x'.repeat(1000),
    [],
    [[]],
    {},
    { data: 1 },
    '::/0',
    '0.0.0.0/0',
  ]

  /** The document with the value at a random place replaced. */
  const mutated = (document: unknown): fc.Arbitrary<unknown> =>
    fc
      .array(fc.tuple(fc.nat(1_000), fc.oneof(fc.constantFrom(...strange), fc.jsonValue())), {
        minLength: 1,
        maxLength: 4,
      })
      .map((changes) =>
        changes.reduce((current, [place, value]) => {
          let at = 0
          const places = JSON.stringify(current)?.split(/[,:[\]{}]/).length ?? 1
          return JSON.parse(
            JSON.stringify(current, (_key, one: unknown) => (at++ === place % places ? value : one)) ??
              'null',
          ) as unknown
        }, document),
      )

  const check = (document: unknown, parse: (document: unknown) => unknown) =>
    fc.assert(
      fc.property(mutated(document), (one) => {
        try {
          parse(one)
        } catch (error) {
          assert.ok(error instanceof TypeError, String(error))
          assert.doesNotMatch(error.message, /undefined|is not a function|Cannot read/)
        }
      }),
      { numRuns: scaled(3_000) },
    )

  it('of RIS Live are parsed, or rejected with a TypeError', () => {
    check(update, (one) => {
      const parsed = parseRisMessage(JSON.stringify(one), now)
      if (parsed.kind === 'update') assert.ok(parsed.at <= now && !Number.isNaN(parsed.at.getTime()))
    })
  })

  it('of RIPEstat are parsed, or rejected with a TypeError', () => check(table, parseBgpState))

  it('of BGPalerter never throw', () => {
    check(alert, (one) => {
      for (const { at, path } of updatesOfAlert(one, now))
        assert.ok(!Number.isNaN(at.getTime()) && (path === null || path.length > 0))
    })
  })

  it('that are any text are rejected with a TypeError', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          parseRisMessage(text, now)
        } catch (error) {
          assert.ok(error instanceof TypeError)
        }
      }),
    )
  })
})
