// The script of the batch thread of the collector.
import { parentPort, workerData } from 'node:worker_threads'
import { FlowBatcher } from '../collector/batcher.ts'
import type { BatchData, FilledBatch, FromBatcher, ToBatcher, ToFilling } from '../collector/messages.ts'
import { encodeNativeBlock } from '../drivers/clickhouse/native-block.ts'

const { batches, ...data } = workerData as BatchData
const batcher = new FlowBatcher({
  ...data,
  encode: encodeNativeBlock,
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has origins, a thread has none
  send: (message: FromBatcher) => parentPort!.postMessage(message),
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has origins, a thread has none
  giveBack: (slot) => batches.postMessage({ slot } satisfies ToFilling),
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has origins, a thread has none
  closeBatch: () => batches.postMessage('close' satisfies ToFilling),
  now: () => Date.now() / 1000,
})
setInterval(() => batcher.detect(), 1_000)
batches.on('message', (batch: FilledBatch) => batcher.add(batch))
parentPort!.on('message', (message: ToBatcher) => batcher.take(message))
