// A simulated device, for demos and for tests of loops: its interfaces are settings, its counters and light levels functions of time.
import type {
  CounterReading,
  CounterRow,
  DeviceIdentity,
  DeviceSource,
  HealthReading,
  InterfaceKey,
  OpticLimits,
  OpticReading,
  SeenBgpSession,
  SeenInterface,
  SeenTransceiver,
} from '../../inventory/collect/device-source.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { liveTraffic } from './live-traffic.ts'
import { partOfLag, type SandboxDeviceSettings, type SandboxInterface } from './settings.ts'
import { countersSince, interfaceSeed, octetsAt, meanPacketOctets } from './traffic.ts'

const ethernet = 6
const lag = 161
const dayMs = 86_400_000
const darkDbm = -40
const fadeDays = 120

export type SandboxDeviceOptions = {
  readonly name: string
  readonly settings: SandboxDeviceSettings
  readonly now: () => Date
}

export class SandboxDeviceSource implements DeviceSource {
  readonly #options: SandboxDeviceOptions
  #isClosed = false
  #answers = 0

  constructor(options: SandboxDeviceOptions) {
    this.#options = options
  }

  answers(): number {
    return this.#answers
  }

  async probe(signal: AbortSignal): Promise<DeviceIdentity> {
    const { vendor = 'Example', model = 'Sandbox', serial = null, software = null } = this.#answer(signal)
    return { name: this.#options.name, vendor, model, serial, software, uptimeMs: this.#uptimeMs() }
  }

  async listInterfaces(signal: AbortSignal): Promise<readonly SeenInterface[]> {
    return this.#answer(signal).interfaces.map((one, at) => ({
      key: one.name,
      index: at + 1,
      name: one.name,
      alias: one.alias ?? '',
      type: one.is_lag ? lag : ethernet,
      mtu: 9192,
      mac: macOf(interfaceSeed(this.#options.name, one.name)),
      ...statesOf(one),
      speedBps: one.speed_bps ?? null,
      lagKey: one.lag ?? null,
      addresses: one.addresses ?? [],
    }))
  }

  async listTransceivers(signal: AbortSignal): Promise<readonly SeenTransceiver[]> {
    return this.#answer(signal).interfaces.flatMap(({ name, optic, oper }) =>
      optic === undefined || oper === 'not_present'
        ? []
        : [
            {
              interfaceKey: name,
              vendor: optic.vendor ?? 'Example Optics',
              part: optic.part ?? null,
              serial: optic.serial ?? null,
              type: optic.type,
              wavelengthNm: optic.wavelength_nm ?? null,
              reachM: optic.reach_m ?? null,
              connector: 'LC',
              lanes: optic.lanes ?? 1,
              hasDdm: optic.rx_dbm !== undefined,
            },
          ],
    )
  }

  async readCounters(keys: readonly InterfaceKey[] | 'all', signal: AbortSignal): Promise<CounterReading> {
    const { interfaces } = this.#answer(signal)
    const at = this.#options.now().getTime()
    const wanted = keys === 'all' ? interfaces : interfaces.filter(({ name }) => keys.includes(name))
    const found = new Set(wanted.map(({ name }) => name))
    return {
      rows: wanted.map((one) => this.#counters(one, at)),
      failed:
        keys === 'all'
          ? []
          : keys.filter((key) => !found.has(key)).map((key) => ({ key, reason: 'missing' as const })),
      isPartial: false,
    }
  }

  async readOptics(signal: AbortSignal): Promise<readonly OpticReading[]> {
    const at = this.#options.now().getTime()
    return this.#answer(signal).interfaces.flatMap((one) => opticsOf(one, at))
  }

  async readBgpSessions(signal: AbortSignal): Promise<readonly SeenBgpSession[]> {
    return (this.#answer(signal).bgp_sessions ?? []).map((one) => ({
      instance: '',
      peer: one.peer,
      peerAsn: one.asn ?? null,
      state: one.state ?? 'established',
      establishedSeconds: Math.floor(this.#uptimeMs() / 1000),
      prefixes: [
        {
          family: one.peer.includes(':') ? 'ipv6' : 'ipv4',
          received: one.received ?? 1,
          limit: one.limit ?? null,
        },
      ],
      error: one.error ? { code: one.error[0]!, subcode: one.error[1]!, text: '' } : null,
    }))
  }

  async readHealth(signal: AbortSignal): Promise<readonly HealthReading[]> {
    this.#answer(signal)
    const hours = this.#options.now().getTime() / 3_600_000
    const wave = Math.sin((hours / 12) * Math.PI)
    return [
      { metric: 'cpu', part: '', value: 18 + 7 * wave },
      { metric: 'memory', part: '', value: 41 },
      { metric: 'temperature', part: '', value: 36 + 2 * wave },
      { metric: 'latency', part: '', value: 1.4 },
      { metric: 'loss', part: '', value: 0 },
    ]
  }

  async close(): Promise<void> {
    this.#isClosed = true
  }

  #counters(one: SandboxInterface, nowMs: number): CounterRow {
    const { at, octetsIn: moreIn, octetsOut: moreOut } = this.#liveOf(one, nowMs)
    const seed = interfaceSeed(this.#options.name, one.name)
    const octetsIn = octetsAt(at, one.in_bps ?? 0, seed) + moreIn
    const octetsOut = octetsAt(at, one.out_bps ?? 0, seed + 1) + moreOut
    return {
      key: one.name,
      at,
      uptimeCs: uptimeAt(at),
      discontinuity: liveTraffic.startedMs === undefined ? 0 : uptimeAt(liveTraffic.startedMs),
      ...statesOf(one),
      octetsIn,
      octetsOut,
      packetsIn: octetsIn / meanPacketOctets,
      packetsOut: octetsOut / meanPacketOctets,
      errorsIn: 0n,
      errorsOut: 0n,
      discardsIn: 0n,
      discardsOut: 0n,
      bits: 64,
    }
  }

  /** Members carry their part of the traffic of their LAG. */
  #liveOf(one: SandboxInterface, nowMs: number) {
    const { name, settings } = this.#options
    const live = liveTraffic.read(nowMs, name, one.lag ?? one.name)
    const partOf = (rate: 'in_bps' | 'out_bps') => partOfLag(settings, one, rate)
    return {
      at: live.at,
      octetsIn: BigInt(Math.round(live.octetsIn * partOf('in_bps'))),
      octetsOut: BigInt(Math.round(live.octetsOut * partOf('out_bps'))),
    }
  }

  #uptimeMs(): number {
    return this.#options.now().getTime() - countersSince
  }

  #answer(signal: AbortSignal): SandboxDeviceSettings {
    signal.throwIfAborted()
    const { name, settings } = this.#options
    if (this.#isClosed) throw new DriverError('unreachable', `${name}: the source is closed`)
    if (settings.silent) throw new DriverError('unreachable', `${name}: no answer`)
    this.#answers++
    return settings
  }
}

/** ifCounterDiscontinuityTime and sysUpTime, in hundredths of a second. */
const uptimeAt = (ms: number): number => Math.floor((ms - countersSince) / 10) % 2 ** 32

const statesOf = ({ admin = 'up', oper = admin }: SandboxInterface) => ({ admin, oper }) as const

const limits = (alarmLow: number, warnLow: number, warnHigh: number, alarmHigh: number): OpticLimits => ({
  alarmLow,
  warnLow,
  warnHigh,
  alarmHigh,
})

/** The receive power falls by `fade_db_per_day` for 120 days, and then begins again; `fade_shift_days` begins it earlier. */
function opticsOf({ name, optic, oper }: SandboxInterface, at: number): OpticReading[] {
  if (optic?.rx_dbm === undefined || oper === 'not_present') return []
  const {
    rx_dbm: rx,
    tx_dbm: tx = -1.5,
    fade_db_per_day: fade = 0,
    fade_shift_days: shift = 0,
    lanes = 1,
  } = optic
  const days = (at - countersSince) / dayMs
  const isDark = oper === 'down'
  return Array.from({ length: lanes }, (_, lane) => {
    const wave = 0.08 * Math.sin(2 * Math.PI * days + lane) + 0.04 * Math.sin(37 * days + lane * 2)
    return {
      interfaceKey: name,
      lane: lane + 1,
      rxDbm: isDark ? darkDbm : round(rx - fade * ((days + shift) % fadeDays) + wave - lane * 0.15),
      txDbm: round(tx + wave / 3 - lane * 0.1),
      biasMa: round(38 + wave),
      temperatureC: lane === 0 ? round(34 + 3 * Math.sin(2 * Math.PI * days)) : null,
      voltageV: lane === 0 ? 3.3 : null,
      preFecBer: null,
      isDark,
      limits: {
        rx_power: limits(-14, -11, 3.5, 5),
        tx_power: limits(-8, -6, 4.5, 5.5),
        bias: limits(5, 10, 80, 90),
        temperature: limits(-10, -5, 70, 75),
        voltage: limits(2.97, 3.13, 3.46, 3.63),
      },
    }
  })
}

const round = (value: number): number => Math.round(value * 100) / 100

/** A locally administered address. */
const macOf = (seed: number): string =>
  ['02', '00', ...seed.toString(16).padStart(8, '0').match(/../g)!].join(':')
