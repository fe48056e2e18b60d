// RIS Live against a server on loopback that speaks its protocol.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { CollectorView } from '../../byoip/visibility/collector-view.ts'
import type { FollowedPrefix, VisibilitySource } from '../../byoip/visibility/visibility-source.ts'
import { visibilitySourceConformance } from '../../byoip/visibility/visibility-source.conformance.ts'
import { parseAsn } from '../../net/asn.ts'
import { parsePrefix, type Prefix } from '../../net/prefix.ts'
import { createLog } from '../../runtime/log.ts'
import { createRisLiveSource, type RisLiveLimits } from './source.ts'
import { FakeRis, risPeers } from './testing.ts'
import { parseRisLiveUrl } from './url.ts'
import { until } from '../../../../lab/src/wait.ts'

const log = createLog({ logLevel: 'silent', logFormat: 'json' })
const fast: Partial<RisLiveLimits> = {
  pingMs: 50,
  retryFirstMs: 20,
  retryMaxMs: 100,
  tableRetryMs: 50,
}
/** Only for tests of silence: a busy machine is silent as long. */
const silentMs = 400
const prefix = parsePrefix('203.0.113.0/24')
const inner = parsePrefix('203.0.113.128/25')
const other = parsePrefix('198.51.100.0/24')
const beacon = '198.18.0.0/24'

visibilitySourceConformance('RIS Live', async () => {
  const ris = await FakeRis.start()
  return {
    source: createRisLiveSource({
      ...parseRisLiveUrl(ris.url()),
      log,
      now: () => new Date(),
      limits: { ...fast, silentMs },
    }),
    announce: async (changed, origin) => {
      // A stream has no memory: an update before the subscription is lost.
      if (changed !== other) await until(() => ris.subscribed().includes(changed))
      ris.update(changed, origin)
    },
    withdraw: async (changed) => ris.update(changed, null),
    outage: { begin: async () => ris.hide(), end: async () => ris.show() },
    stop: () => ris.stop(),
  }
})

describe('the source RIS Live', () => {
  let ris: FakeRis
  let source: VisibilitySource
  let view: CollectorView
  beforeEach(async () => {
    ris = await FakeRis.start()
    view = new CollectorView({ ourAsn: 64500 })
  })
  afterEach(async () => {
    await source.stop?.()
    await ris.stop()
  })

  const begin = async (options: { table?: boolean } = {}, limits: Partial<RisLiveLimits> = {}) => {
    const address = parseRisLiveUrl(ris.url({ ...options, query: `&reference=${beacon}` }))
    source = createRisLiveSource({ ...address, log, now: () => new Date(), limits: { ...fast, ...limits } })
    source.connect(view)
    follow(prefix)
    await source.start?.()
    await until(() => ris.subscribed().includes(prefix) && source.status().state === 'current')
  }
  const follow = (...prefixes: Prefix[]) => {
    view.setPrefixes(prefixes)
    source.follow(
      prefixes.map((one): FollowedPrefix => ({ prefix: one, originAsn: parseAsn(64496), change: null })),
    )
  }
  const seeing = (of: Prefix, origin = 64496) =>
    view.read(of).states.filter((state) => state.origin === origin).length

  it('subscribes to each prefix and the references, and follows changes of the set', async () => {
    await begin()
    assert.deepEqual(ris.subscribed(), [beacon, prefix])
    follow(prefix, other)
    await until(() => ris.subscribed().includes(other))
    follow(other)
    await until(() => !ris.subscribed().includes(prefix))
  })

  it('knows since when it misses no change: from the answer to the ping after the subscription', async () => {
    const began = Date.now()
    await begin()
    await until(() => view.read(prefix).sinceMs !== undefined)
    assert.ok(view.read(prefix).sinceMs! >= began && view.read(prefix).sinceMs! <= Date.now())
  })

  it('learns the collectors from the references', async () => {
    await begin()
    ris.update(parsePrefix(beacon), 12654)
    await until(() => view.collectors(4) === 3)
    assert.equal(view.size, 0)
  })

  it('reports routes inside the prefix, with their path through our network', async () => {
    await begin()
    ris.update(inner, 64511)
    await until(() => view.read(prefix).moreSpecifics.length === 1)
    const [found] = view.read(prefix).moreSpecifics
    assert.deepEqual(
      [found!.prefix, found!.states.length, found!.states.every(({ isOurs }) => isOurs)],
      [inner, 3, true],
    )
  })

  it('forgets the routes of a peer that went down', async () => {
    await begin()
    ris.update(prefix, 64496)
    await until(() => seeing(prefix) === 3)
    ris.sendPeerDown(risPeers[0]!)
    await until(() => seeing(prefix) === 2)
    assert.equal(view.collectors(4), 2)
  })

  it('reconnects, subscribes again, and does not count routes from before', async () => {
    await begin()
    ris.update(prefix, 64496)
    await until(() => seeing(prefix) === 3)
    ris.drop()
    await until(() => ris.connections === 2 && ris.subscribed().includes(prefix))
    assert.equal(seeing(prefix), 0)
    assert.equal(view.collectors(4), 3, 'the collectors still exist')
    ris.update(prefix, 64496)
    await until(() => seeing(prefix) === 3)
  })

  it('reconnects if the server is silent', async () => {
    await begin({}, { silentMs })
    ris.answersPings = false
    await until(() => ris.connections >= 2)
    ris.answersPings = true
    await until(() => source.status().state === 'current')
  })

  it('reconnects after the error for slow clients', async () => {
    await begin()
    ris.endSlowClients()
    await until(() => ris.connections === 2 && ris.subscribed().includes(prefix))
    await until(() => source.status().state === 'current')
  })

  it('skips malformed messages, and reports the next one', async () => {
    await begin()
    for (const text of ['{', '[]', 'null', '"x"', '{}', '{"type":1}', '{"type":"ris_message"}', ''])
      ris.sendRaw(text)
    ris.update(prefix, 64496)
    await until(() => seeing(prefix) === 3)
    assert.equal(ris.connections, 1)
  })

  it('ends a connection with a message that is too long, and continues on the next', async () => {
    await begin({}, { messageOctetsMax: 10_000 })
    ris.sendRaw(JSON.stringify({ type: 'ris_message', data: 'x'.repeat(20_000) }))
    await until(() => ris.connections === 2 && ris.subscribed().includes(prefix))
    ris.update(prefix, 64496)
    await until(() => seeing(prefix) === 3)
  })

  it('reads the routes from before the subscription from the table', async () => {
    ris.update(prefix, 64496, { quiet: true })
    await begin({ table: true })
    await until(() => seeing(prefix) === 3)
    assert.equal(view.read(prefix).isComplete, true)
    assert.ok(ris.tableRequests.some((resource) => resource.includes(prefix)))
  })

  it('does not use a table from before the subscription, or a failed one, and asks again', async () => {
    ris.update(prefix, 64496, { quiet: true })
    ris.tableAgeMs = 60_000
    await begin({ table: true })
    await until(() => ris.tableRequests.length >= 4)
    assert.equal(view.read(prefix).isComplete, false)
    ris.tableStatus = 500
    const { length } = ris.tableRequests
    await until(() => ris.tableRequests.length >= length + 3)
    ris.tableStatus = 200
    ris.tableAgeMs = 0
    await until(() => view.read(prefix).isComplete)
    assert.equal(seeing(prefix), 3)
  })

  it('is unavailable if no update arrives for a long time', async () => {
    await begin({}, { updateSilentMs: 150 })
    await until(() => source.status().problem === 'no BGP update for hours')
    assert.equal(source.status().state, 'unavailable')
    ris.update(prefix, 64496)
    await until(() => source.status().state === 'current')
  })

  it('handles a burst of updates without losing one', async () => {
    await begin()
    const many = Array.from({ length: 300 }, (_, n) => ({ address: `192.0.2.${n % 250}`, asn: 64600 + n }))
    for (let round = 0; round < 20; round++)
      for (const peer of many) ris.sendUpdate(peer, prefix, round % 2 === 0 ? 64511 : 64496)
    await until(() => seeing(prefix) === 250)
    assert.equal(ris.connections, 1)
  })
})
