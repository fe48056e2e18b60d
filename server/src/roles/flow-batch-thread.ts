// The script of the batch thread of the collector.
import { parentPort, workerData } from 'node:worker_threads'
import { BatchDetector } from '../analysis/detector/batch-detector.ts'
import { FlowBatcher } from '../analysis/flow/collect/batcher.ts'
import type {
  BatchData,
  EmptiedBatch,
  FilledBatch,
  FromBatcher,
  ToBatcher,
} from '../analysis/flow/collect/messages.ts'
import { encodeNativeBlock } from '../drivers/clickhouse/native-block.ts'

const { batches, ...data } = workerData as BatchData
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has origins, a thread has none
const send = (message: FromBatcher) => parentPort!.postMessage(message)
const detector = new BatchDetector((detections) => send({ kind: 'detections', detections }))
const batcher = new FlowBatcher({
  ...data,
  encode: encodeNativeBlock,
  send,
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has origins, a thread has none
  giveBack: (slot) => batches.postMessage({ slot } satisfies EmptiedBatch),
  now: () => Date.now() / 1000,
  observe: (columns, owners) => detector.observe(columns, owners),
})
batches.on('message', (batch: FilledBatch) => batcher.add(batch))
parentPort!.on('message', (message: ToBatcher) => {
  if (message.kind === 'detector') detector.setRules(message.rules)
  else batcher.take(message)
})
setInterval(() => detector.tick(Date.now() / 1000), 1_000)
