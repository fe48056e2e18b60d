// Readings for tests of usage.
import type { CounterRow } from './reading.ts'

/** A reading of an idle interface of a device that has been running for a day. */
export function createRow(row: Partial<CounterRow>): CounterRow {
  return {
    key: 'eth1',
    at: Date.UTC(2026, 0, 1),
    uptimeCs: 8_640_000,
    discontinuity: 0,
    admin: 'up',
    oper: 'up',
    octetsIn: 0n,
    octetsOut: 0n,
    packetsIn: 0n,
    packetsOut: 0n,
    errorsIn: 0n,
    errorsOut: 0n,
    discardsIn: 0n,
    discardsOut: 0n,
    bits: 64,
    ...row,
  }
}

/** The same interface later, with all clocks in step. */
export function laterRow(row: CounterRow, ms: number, changes: Partial<CounterRow> = {}): CounterRow {
  return { ...row, at: row.at + ms, uptimeCs: row.uptimeCs + ms / 10, ...changes }
}
