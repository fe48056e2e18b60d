// The port to one device: its identity, interfaces, modules, counters and light levels, now. It must not know a team, a
// row or a vendor. Drivers import it by type only. A source reports the device's answers without evaluating them.
import type { InterfaceState } from '@pharos/contract/inventory/device'
import type { SeenBgpSession } from '../bgp/seen-session.ts'
import type { CounterRow } from '../usage/reading.ts'

export type { CounterRow, InterfaceState, SeenBgpSession }

/** Key of an interface on its device: its name, or its description; with `#` and the index if that is not unique. */
export type InterfaceKey = string

/** Parts that are read by themselves, so that a device that cannot answer it keeps the rest. */
export type DevicePart =
  | 'identity'
  | 'interfaces'
  | 'lags'
  | 'addresses'
  | 'counters'
  | 'modules'
  | 'health'
  | 'load'
  | 'sensors'
  | 'optics'
  | 'bgp'

/** Returns the result of `read`; undefined if the device cannot answer it, which is reported. */
export type ReadPart = <T>(
  part: DevicePart,
  read: (signal: AbortSignal) => Promise<T>,
) => Promise<T | undefined>

/** Undefined: its table could not be read. */
export type DeviceIdentity = {
  /** Name of the device itself (sysName); null if missing. */
  readonly name: string | null
  readonly vendor: string | null
  readonly model: string | null | undefined
  readonly serial: string | null | undefined
  readonly software: string | null | undefined
  /** Time since the device, or its agent, has started. */
  readonly uptimeMs: number
}

export type SeenInterface = {
  readonly key: InterfaceKey
  /** Number on the device (ifIndex), by which flows refer to it: it may change at a restart. -1: no number. */
  readonly index: number
  readonly name: string
  /** Text set by the operator of the device; empty if missing. */
  readonly alias: string
  /** IANAifType, such as 6 for Ethernet and 161 for a LAG. */
  readonly type: number
  readonly mtu: number | null
  /** Lower case, with colons. */
  readonly mac: string | null
  readonly admin: InterfaceState
  readonly oper: InterfaceState
  readonly speedBps: number | null
  /** The LAG that the interface is a member of; undefined: the table of LAGs could not be read. */
  readonly lagKey: InterfaceKey | null | undefined
  /** Addresses with their prefix length, such as `192.0.2.1/30`; undefined: their table could not be read. */
  readonly addresses: readonly string[] | undefined
}

/** A pluggable module. */
export type SeenTransceiver = {
  readonly interfaceKey: InterfaceKey
  readonly vendor: string | null
  readonly part: string | null
  readonly serial: string | null
  /** Such as `100GBASE-LR4`. */
  readonly type: string | null
  readonly wavelengthNm: number | null
  readonly reachM: number | null
  readonly connector: string | null
  readonly lanes: number
  /** Whether the module reports light levels (digital diagnostic monitoring, SFF-8472). */
  readonly hasDdm: boolean
}

export type CounterReading = {
  readonly rows: readonly CounterRow[]
  /** Requested interfaces without a row. */
  readonly failed: readonly { readonly key: InterfaceKey; readonly reason: 'missing' | 'invalid' }[]
  /** The device stopped answering before the end: the rows that came are complete ones. */
  readonly isPartial: boolean
}

/** Limits of one measured value, reported by the module. Null: no limit; 0 is a limit. */
export type OpticLimits = {
  readonly alarmLow: number | null
  readonly warnLow: number | null
  readonly warnHigh: number | null
  readonly alarmHigh: number | null
}

export type OpticMetric = 'rx_power' | 'tx_power' | 'bias' | 'temperature' | 'voltage'

/**
 * Light levels of one lane in dBm, bias in mA. The values of the module itself, temperature in degrees Celsius and voltage, are
 * in the reading of lane 0, or of lane 1 of a module with one lane. Null: not reported.
 */
export type OpticReading = {
  readonly interfaceKey: InterfaceKey
  /** From 1; 0: the module itself. */
  readonly lane: number
  /** -40 with `isDark`. */
  readonly rxDbm: number | null
  readonly txDbm: number | null
  readonly biasMa: number | null
  readonly temperatureC: number | null
  readonly voltageV: number | null
  /** Bit error rate before forward error correction. */
  readonly preFecBer: number | null
  /** No light: the value is below the range of the module. */
  readonly isDark: boolean
  readonly limits: { readonly [M in OpticMetric]?: OpticLimits }
}

export type HealthMetric = 'cpu' | 'memory' | 'temperature' | 'fan' | 'power' | 'latency' | 'loss'

/** `cpu`, `memory`, `loss`: percent; `temperature`: degrees Celsius; `fan`: rpm; `power`: W; `latency`: ms. */
export type HealthReading = {
  readonly metric: HealthMetric
  /** The part of the device, such as `CPU 1`; empty for the device. */
  readonly part: string
  readonly value: number
}

/**
 * Queries one device. Every call ends within its timeout and throws a DriverError: `unreachable` (silence), `refused`
 * (the credential), `protocol` (an invalid answer). `signal` ends a call within 100 ms, with its reason. `readPart`
 * reads tables beside the main one; without it, an unreadable table is an error of the call.
 */
export interface DeviceSource {
  /** Answers that the device has given so far: a call during which it does not grow is ended by the caller. */
  answers(): number
  probe(signal: AbortSignal, readPart?: ReadPart): Promise<DeviceIdentity>
  /** All of them, ordered by index. */
  listInterfaces(signal: AbortSignal, readPart?: ReadPart): Promise<readonly SeenInterface[]>
  listTransceivers(signal: AbortSignal): Promise<readonly SeenTransceiver[]>
  readCounters(keys: readonly InterfaceKey[] | 'all', signal: AbortSignal): Promise<CounterReading>
  /** Reads the modules of the last `listTransceivers`, without their limits. */
  readOptics(signal: AbortSignal): Promise<readonly OpticReading[]>
  /** Reads all sessions. A device without sessions at the listing of its interfaces counts as without BGP. */
  readBgpSessions(signal: AbortSignal): Promise<readonly SeenBgpSession[]>
  /** Includes `latency` and `loss` of the requests since the last call. */
  readHealth(signal: AbortSignal, readPart?: ReadPart): Promise<readonly HealthReading[]>
  /** Rejects running calls. */
  close(): Promise<void>
}
