// Receives and decodes flows, and looks up the owner of each, in a separate process. Argument: recvmmsg or dgram. It
// sends its port, and for each message of the parent its totals.
import { createFlowColumns } from '../../server/src/flow/flow-columns.ts'
import { createFlowOwners, toHoldingColumns } from '../../server/src/collector/flow-owners.ts'
import { rowsMax } from '../../server/src/flow/flow-decoder.ts'
import { createDecoder } from '../../server/src/drivers/netflow/decoder.ts'
import { createDgramSource } from '../../server/src/drivers/netflow/dgram.ts'
import { createRecvmmsgSource } from '../../server/src/drivers/netflow/recvmmsg.ts'
import { parsePrefix } from '../../server/src/net/prefix.ts'

export type ReceiverTotals = {
  readonly flows: number
  readonly cpuMs: number
  readonly drops: number
  readonly owned: number
}

const options = { listen: [{ address: '127.0.0.1', port: 0 }], receiveBufferBytes: 32 * 2 ** 20 }
const source = process.argv[2] === 'dgram' ? await createDgramSource(options) : createRecvmmsgSource(options)
const decoder = createDecoder()
// Batches as in the collector: a single batch would stay in the processor's cache and look faster.
const batches = Array.from({ length: 3 }, () => createFlowColumns(500_000 + rowsMax))
const owners = createFlowOwners(
  toHoldingColumns(
    1,
    Array.from({ length: 256 }, (_, i) => ({
      prefix: parsePrefix(`203.0.${i}.0/24`),
      teamId: i + 1,
      resource: 'prefix' as const,
      id: i + 1,
    })),
  ),
)
let current = 0
let owned = 0
source.start(
  ({ octets, count, offsets, lengths, senders, ports }) => {
    const now = Date.now()
    for (let i = 0; i < count; i++) {
      let columns = batches[current]!
      if (columns.length + rowsMax > columns.capacity) {
        current = (current + 1) % batches.length
        columns = batches[current]!
        columns.length = 0
      }
      const before = columns.length
      decoder.decode(octets, offsets[i]!, lengths[i]!, senders, i * 4, ports[i]!, now, columns)
      for (let row = before; row < columns.length; row++) {
        const word = row * 4
        const { dst } = columns
        if (owners.find(dst[word]!, dst[word + 1]!, dst[word + 2]!, dst[word + 3]!) !== 0) owned++
      }
    }
  },
  (error) => {
    throw error
  },
)
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.({
    flows: decoder.counters.flows,
    cpuMs: (user + system) / 1000,
    drops: source.drops() ?? 0,
    owned,
  } satisfies ReceiverTotals)
})
process.send?.(source.addresses[0]!.port)
