// A real exporter: softflowd counts packets that really pass, and its flows are in the store with the octets of the interface.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { FlowCollector } from '../../server/src/collector/collector.ts'
import { createTestDatabase } from '../../server/src/db/testing.ts'
import { createTestFlowStore } from '../../server/src/drivers/clickhouse/testing.ts'
import type { FlowPacket } from '../../server/src/net/flow-match.ts'
import { parsePrefix } from '../../server/src/net/prefix.ts'
import { createLog } from '../../server/src/runtime/log.ts'
import { createMetrics } from '../../server/src/runtime/metrics.ts'
import { createExportLink, startFlowExporter } from './flow-exporter.ts'
import { skipWithoutNamespaces } from './namespace.ts'
import { createPacketPath } from './packet-path.ts'
import { skipWithout } from './program.ts'
import { waitFor } from './wait.ts'

const skip = skipWithoutNamespaces() || skipWithout('nft', 'softflowd')
const prefixes = ['203.0.113.0/24', '2001:db8:a::/48'].map(parsePrefix)
const threads = {
  receive: new URL('../../server/src/process/flow-receive-thread.ts', import.meta.url),
  batch: new URL('../../server/src/process/flow-batch-thread.ts', import.meta.url),
}

const packet = (source: string, destination: string, packetLength: number): FlowPacket => ({
  source: parsePrefix(source),
  destination: parsePrefix(destination),
  protocol: 17,
  sourcePort: 4321,
  destinationPort: 53,
  packetLength,
  dscp: 0,
  fragment: false,
})

const filler = packet('198.51.100.9/32', '203.0.113.250/32', 100)

it('stores flows of softflowd, NetFlow 9 and IPFIX, with the octets that passed', { skip }, async () => {
  await using stack = new AsyncDisposableStack()
  const folder = await mkdtemp('/tmp/pharos-softflowd-')
  stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const database = stack.use(await createTestDatabase())
  const store = stack.use(await createTestFlowStore())
  const path = await createPacketPath(prefixes)
  stack.defer(() => path.stop())
  const number = (process.pid % 250) + 1
  const link = stack.use(await createExportLink(path.host, `phf${number}`, `198.19.${number}`))
  const collector = new FlowCollector({
    postgres: database.postgres,
    store,
    log: createLog({ logLevel: 'silent', logFormat: 'json' }),
    metrics: createMetrics(),
    addresses: [{ address: link.collector, port: 0 }],
    spoolDir: join(folder, 'spool'),
    spoolBytesMax: 1e9,
    addressFiles: [],
    ownAsn: 0,
    threads,
  })
  assert.equal(await collector.listen(), true)
  stack.defer(() => collector.stop())
  const target = `${link.collector}:${collector.addresses[0]!.port}`

  const versions = [
    [9, packet('198.51.100.7/32', '203.0.113.9/32', 400)],
    [10, packet('198.51.100.8/32', '203.0.113.10/32', 700)],
    [10, packet('2001:db8:ff::7/128', '2001:db8:a::9/128', 900)],
  ] as const
  for (const [version, sent] of versions) {
    const before = await path.entered()
    const softflowd = await startFlowExporter({
      folder: join(folder, `${version}-${sent.packetLength}`),
      namespace: path.host,
      device: 'in1',
      version,
      target,
    })
    // The fillers complete the libpcap block with the first packets.
    await path.send([sent], 500)
    await path.send([filler], 3_000)
    const address = sent.destination.split('/')[0]!
    const stored = () =>
      store.query<{ packets: number; octets: number }>(
        `select toUInt32(sum(packets)) as packets, toUInt32(sum(bytes)) as octets from flows
         where dst_addr = toIPv6({address:String}) and is_primary`,
        { address },
      )
    await waitFor(`flows to ${address}`, async () => (await stored())[0]!.packets >= 500)
    await softflowd.stop()
    assert.deepEqual(await stored(), [{ packets: 500, octets: 500 * sent.packetLength }])
    const entered = await path.entered()
    const packets = entered.packets - before.packets - 3_000
    const octets = entered.octets - before.octets - 3_000 * filler.packetLength
    // Additional packets may be queries between neighbors.
    assert.ok(packets >= 500 && packets <= 510, `${packets} packets`)
    assert.ok(octets >= 500 * sent.packetLength && octets <= 500 * sent.packetLength + 10 * 100, `${octets}`)
  }
})
