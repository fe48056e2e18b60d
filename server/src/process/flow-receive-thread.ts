// The script of the receiving thread of the collector.
import { parentPort, workerData } from 'node:worker_threads'
import { createExporterReports } from '../collector/exporter-reports.ts'
import type { FilledBatch, FromReceiver, ReceiveData, ToFilling, ToReceiver } from '../collector/messages.ts'
import { PacketSamples } from '../collector/packet-samples.ts'
import { createReceiveClock } from '../collector/receive-clock.ts'
import { FlowReceiver } from '../collector/receiver.ts'
import type { DatagramSource } from '../flow/datagram-source.ts'
import { createDatagramSource } from '../drivers/netflow/datagram-sources.ts'
import { createDecoder } from '../drivers/netflow/decoder.ts'
import { dispatch, type Handlers } from '../runtime/handlers.ts'

const reportMs = 1_000
/** Without the privilege the kernel limits it to net.core.rmem_max. */
const receiveBufferBytes = 32 * 2 ** 20

const { addresses, slots, batches } = workerData as ReceiveData
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has origins, a thread has none
const report = (message: FromReceiver) => parentPort!.postMessage(message)
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has origins, a thread has none
const send = (batch: FilledBatch) => batches.postMessage(batch)

const learned = createExporterReports(report)
const samples = new PacketSamples()
const decoder = createDecoder({
  onTemplate: (template) => learned.add({ kind: 'template', template }),
  onWithdrawal: (key) => learned.add({ kind: 'withdrawal', key }),
  onSampling: (sampling) => learned.add({ kind: 'sampling', sampling }),
  onOutdatedSampling: (sampling) => learned.add({ kind: 'outdated-sampling', sampling }),
  onUnknownTemplate: (key) => report({ kind: 'unknown-template', key }),
  onInterfaceCounters: (counters) => report({ kind: 'interface-counters', counters }),
  onHeader: (...header) => samples.add(...header),
})

let receiver: FlowReceiver | undefined
let reporting: NodeJS.Timeout | undefined
/** Datagrams wait in the sockets for the templates and rates of the database. */
const known = Promise.withResolvers<void>()

const onMessage: Handlers<ToReceiver> = {
  known({ templates, samplings }) {
    for (const template of templates) decoder.addTemplate(template)
    for (const sampling of samplings) decoder.addSampling(sampling)
    known.resolve()
  },
  exporters: ({ settings }) => decoder.setExporters(settings),
  'known-exporters': ({ exporters }) => decoder.setKnown(exporters),
  watches({ wanted, watches }) {
    for (const { eventId, part } of wanted) {
      const file = samples.capture(eventId)
      if (file) report({ kind: 'packets', packets: { eventId, part, file } })
    }
    samples.setWatches(watches)
  },
  stop,
}
parentPort!.on('message', (message: ToReceiver) => dispatch(onMessage, message))
batches.on('message', (message: ToFilling) => {
  if (message === 'close') receiver?.closeBatch()
  else receiver?.giveBack(message)
})

function stop(): void {
  clearInterval(reporting)
  if (receiver === undefined) return send({ kind: 'end' })
  reportNow(receiver)
  receiver.stop()
}

function reportNow(from: FlowReceiver): void {
  learned.send()
  report({ kind: 'counters', counters: from.counters() })
  const findings = decoder.takeFindings()
  if (findings.length > 0) report({ kind: 'findings', findings })
}

try {
  const source = await createDatagramSource({ listen: addresses, receiveBufferBytes })
  await known.promise
  start(source)
} catch (error) {
  report({ kind: 'failed', message: (error as Error).message })
}

function start(source: DatagramSource): void {
  const now = createReceiveClock({ wallMs: Date.now, monotonicMs: () => performance.now() })
  const started = new FlowReceiver({
    source,
    decoder,
    samples,
    slots,
    send,
    now,
    onError: (error) => {
      throw error
    },
  })
  receiver = started
  started.start()
  reporting = setInterval(() => reportNow(started), reportMs)
  report({
    kind: 'listening',
    source: source.kind,
    addresses: source.addresses,
    receiveBufferBytes: source.receiveBufferBytes,
  })
}
