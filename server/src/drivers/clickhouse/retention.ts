// How long the rows of each table are kept. A table without a line would grow for ever: a test compares the list with the tables.

export type Retention = {
  /** Days of raw flows and rollups by minute. */
  readonly flowDays: number
  /** Days of rollups by hour. */
  readonly rollupDays: number
}

/** The column of time is `time` in every table. */
export const retentionOf: Readonly<Record<string, keyof Retention>> = {
  flows: 'flowDays',
  flows_by_protocol_1m: 'flowDays',
  flows_by_service_1m: 'flowDays',
  flows_by_interface_1m: 'flowDays',
  flows_by_protocol_1h: 'rollupDays',
  flows_by_service_1h: 'rollupDays',
  flows_by_interface_1h: 'rollupDays',
  flows_by_peer_1h: 'rollupDays',
  flow_claims: 'rollupDays',
  shield_hits: 'rollupDays',
}
