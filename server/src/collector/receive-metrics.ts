// Adds the counters of the receiving thread to the metrics.
import type { FlowLoss, Metrics } from '../runtime/metrics.ts'
import type { ReceiveCounters } from './messages.ts'

export type ReceiveMetrics = {
  /** Takes totals since the thread started. */
  count(counters: ReceiveCounters): void
  /** The thread starts again, with totals of zero. */
  restart(): void
}

export function createReceiveMetrics(
  metrics: Pick<Metrics, 'flowDatagrams' | 'flows' | 'flowsLost' | 'flowRatesAmbiguous'>,
): ReceiveMetrics {
  let counted: ReceiveCounters | undefined
  return {
    restart() {
      counted = undefined
    },
    count(counters) {
      const { decoder, kernelDrops = 0, withoutBatch } = counters
      const before = counted
      counted = counters
      const add = (reason: FlowLoss, total: number, earlier = 0) => {
        if (total > earlier) metrics.flowsLost.inc({ reason }, total - earlier)
      }
      for (const protocol of ['netflow5', 'netflow9', 'ipfix', 'sflow'] as const)
        metrics.flowDatagrams.inc(
          { protocol },
          decoder.datagrams[protocol] - (before?.decoder.datagrams[protocol] ?? 0),
        )
      metrics.flowRatesAmbiguous.inc(decoder.ambiguousRates - (before?.decoder.ambiguousRates ?? 0))
      metrics.flows.inc(decoder.flows - (before?.decoder.flows ?? 0))
      add('kernel_buffer', kernelDrops, before?.kernelDrops)
      add('no_batch', withoutBatch, before?.withoutBatch)
      add('malformed', decoder.malformedDatagrams, before?.decoder.malformedDatagrams)
      add('repeated', decoder.repeatedDatagrams, before?.decoder.repeatedDatagrams)
      add('over_limit', decoder.overLimit, before?.decoder.overLimit)
      add('truncated', decoder.truncated, before?.decoder.truncated)
      add('implausible', decoder.implausibleRecords, before?.decoder.implausibleRecords)
      add('internal', decoder.internalFlows, before?.decoder.internalFlows)
      add(
        'unknown_template',
        decoder.expiredSets + decoder.overflowedSets,
        before && before.decoder.expiredSets + before.decoder.overflowedSets,
      )
    },
  }
}
