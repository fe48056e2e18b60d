// The counters of a reading by name, in the view of the device and in the view of the customer. It must not compare readings.
import type { InterfaceState } from '@pharos/contract/inventory/device'

export const counterNames = [
  'octetsIn',
  'octetsOut',
  'packetsIn',
  'packetsOut',
  'errorsIn',
  'errorsOut',
  'discardsIn',
  'discardsOut',
] as const
export type CounterName = (typeof counterNames)[number]

/** Totals or increases of the counters. Null: unknown, or the device has no such counter; never 0 instead. */
export type CounterValues = Readonly<Record<CounterName, bigint | null>>

/** Counters since the device has started. Null: the device has no such counter. */
export type CounterRow = {
  /** Key of the interface on its device. */
  readonly key: string
  /** Middle between request and answer, ms since 1970. */
  readonly at: number
  /** Clock of the device in hundredths of a second (sysUpTime), from the same message as the counters. */
  readonly uptimeCs: number
  /** Clock value of the last discontinuity of these counters (ifCounterDiscontinuityTime). */
  readonly discontinuity: number | null
  readonly admin: InterfaceState
  readonly oper: InterfaceState
  readonly octetsIn: bigint | null
  readonly octetsOut: bigint | null
  readonly packetsIn: bigint | null
  readonly packetsOut: bigint | null
  readonly errorsIn: bigint | null
  readonly errorsOut: bigint | null
  readonly discardsIn: bigint | null
  readonly discardsOut: bigint | null
  /** Size of the octet counters. */
  readonly bits: 64 | 32
}

/** Returns the result of the function for each counter. */
export function mapCounters(valueOf: (name: CounterName) => bigint | null): CounterValues {
  const entries = counterNames.map((name) => [name, valueOf(name)] as const)
  return Object.fromEntries(entries) as Record<CounterName, bigint | null>
}

/**
 * Returns the values as the customer at the other end of the cable sees them: octets that the device sends enter the customer's
 * network. Applied twice it returns the same values.
 */
export function customerView(values: CounterValues): CounterValues {
  return {
    octetsIn: values.octetsOut,
    octetsOut: values.octetsIn,
    packetsIn: values.packetsOut,
    packetsOut: values.packetsIn,
    errorsIn: values.errorsOut,
    errorsOut: values.errorsIn,
    discardsIn: values.discardsOut,
    discardsOut: values.discardsIn,
  }
}
