// The state that the decoders of all protocols share.
import type { DecoderCounters, DecoderEvents } from '../../flow/flow-decoder.ts'
import { Connections } from './connections.ts'
import { ExporterTable } from './exporter-table.ts'
import { createPacketHeader } from './packet-header.ts'
import { Quota } from './quota.ts'
import type { RecordContext } from './read-records.ts'

/** `exportersMax` and `heldOctetsMax` are the bounds for all exporters together; the others are in `quota.ts`. */
export type DecoderOptions = DecoderEvents & {
  readonly exportersMax?: number
  readonly heldOctetsMax?: number
}

export type Decoding = {
  readonly exporters: ExporterTable
  readonly events: DecoderEvents
  readonly counters: DecoderCounters
  readonly context: RecordContext
  readonly quota: Quota
}

/** Creates the empty state of a decoder. */
export function createDecoding({ exportersMax = 4096, heldOctetsMax, ...events }: DecoderOptions): Decoding {
  const quota = new Quota(heldOctetsMax === undefined ? {} : { heldOctets: heldOctetsMax })
  return {
    exporters: new ExporterTable(exportersMax, quota),
    events,
    counters: {
      datagrams: { netflow5: 0, netflow9: 0, ipfix: 0, sflow: 0 },
      flows: 0,
      malformedDatagrams: 0,
      repeatedDatagrams: 0,
      truncated: 0,
      refusedTemplates: 0,
      heldSets: 0,
      expiredSets: 0,
      overflowedSets: 0,
      recordsWithoutAddress: 0,
      recordsWithoutCounters: 0,
      implausibleRecords: 0,
      internalFlows: 0,
      ambiguousRates: 0,
      samplesWithoutAddress: 0,
      sequenceGaps: 0,
      sequenceMissing: 0,
      overLimit: 0,
    },
    context: {
      exporter: 0,
      port: 0,
      connectionsOf: 0,
      time: 0,
      override: 0,
      rate: 0,
      lookup: () => 0,
      connections: new Connections(),
      header: createPacketHeader(),
      onHeader: events.onHeader,
      withoutCounters: 0,
      withoutAddress: 0,
    },
    quota,
  }
}
