// Readings of a module from its values and its lanes, in the form that all families share.
import type { OpticLimits, OpticMetric } from '../../../inventory/collect/device-source.ts'
import type { DecodedModule, DecodedReading, PortReference } from './family.ts'
import { isDark, lightMaxDbm } from './values.ts'

export type ModuleLimits = { readonly [M in OpticMetric]?: OpticLimits | undefined }

export type LaneValues = {
  /** From 1. */
  readonly lane: number
  /** Port of the lane, if the port is divided; otherwise the module's. */
  readonly port?: PortReference
  readonly rxDbm: number | null
  readonly txDbm: number | null
  readonly biasMa: number | null
  readonly preFecBer?: number | null
  readonly limits?: ModuleLimits
}

export type ModuleValues = {
  readonly port: PortReference
  readonly temperatureC: number | null
  readonly voltageV: number | null
  /** Limits of the module and of all lanes. */
  readonly limits: ModuleLimits
  readonly lanes: readonly LaneValues[]
}

const laneMetrics = ['rx_power', 'tx_power', 'bias'] as const
const moduleMetrics = ['temperature', 'voltage'] as const

/** Returns one reading for a module with one lane; otherwise one for the module (lane 0) and one for each lane. */
export function readingsOf(module: ModuleValues): DecodedReading[] {
  const lanes = module.lanes.filter((lane) => hasValue(lane) && !isUnmeasured(module, lane))
  const [only] = lanes
  if (lanes.length === 1 && only)
    return [{ ...laneReading(module, only), ...ofModule(module), limits: allLimits(module, only) }]
  return [...moduleReading(module), ...lanes.map((lane) => laneReading(module, lane))]
}

const hasValue = (lane: LaneValues): boolean =>
  lane.rxDbm !== null || lane.txDbm !== null || lane.biasMa !== null

/**
 * Returns whether the zeros come from a module without measurements: a laser without current cannot send 1 mW, which is
 * 0 dBm.
 */
function isUnmeasured({ temperatureC }: ModuleValues, { rxDbm, txDbm, biasMa }: LaneValues): boolean {
  if (biasMa !== null) return biasMa === 0 && txDbm === 0
  return txDbm === 0 && rxDbm === 0 && !temperatureC
}

const ofModule = ({ temperatureC, voltageV }: ModuleValues) => ({ temperatureC, voltageV })

/** 0 degrees without any other value is a row without values. */
function moduleReading(module: ModuleValues): DecodedReading[] {
  if (!module.temperatureC && module.voltageV === null) return []
  const limits = pick(module.limits, moduleMetrics)
  const none = { rxDbm: null, txDbm: null, biasMa: null, preFecBer: null, isDark: false }
  return [{ port: module.port, lane: 0, ...none, ...ofModule(module), limits }]
}

function laneReading(module: ModuleValues, lane: LaneValues): DecodedReading {
  const [rxDbm, txDbm] = [lightOf(lane.rxDbm), lightOf(lane.txDbm)]
  return {
    port: lane.port ?? module.port,
    lane: lane.lane,
    rxDbm,
    txDbm,
    biasMa: lane.biasMa,
    preFecBer: lane.preFecBer ?? null,
    temperatureC: null,
    voltageV: null,
    isDark: isDark(rxDbm),
    limits: pick({ ...module.limits, ...lane.limits }, laneMetrics),
  }
}

const lightOf = (dbm: number | null): number | null => (dbm !== null && dbm <= lightMaxDbm ? dbm : null)

const allLimits = (module: ModuleValues, lane: LaneValues) =>
  pick({ ...module.limits, ...lane.limits }, [...laneMetrics, ...moduleMetrics])

function pick(limits: ModuleLimits, metrics: readonly OpticMetric[]): DecodedReading['limits'] {
  const entries = metrics.map((metric) => [metric, limits[metric]] as const)
  return Object.fromEntries(entries.filter(([, limit]) => limit !== undefined))
}

/** Returns a module of which only these facts are known. */
export function opticModuleOf(
  port: PortReference,
  facts: Partial<DecodedModule> & Pick<DecodedModule, 'lanes' | 'hasDdm'>,
): DecodedModule {
  return {
    port,
    vendor: null,
    part: null,
    serial: null,
    type: null,
    wavelengthNm: null,
    reachM: null,
    connector: null,
    ...facts,
  }
}

/** Returns the Ethernet type in a text, such as `10GBASE-LR`; null without a type. */
export function ethernetTypeIn(...texts: readonly (string | null)[]): string | null {
  const match = /\b\d+(?:M|G)?BASE-?[A-Z][A-Z0-9]*\b/i.exec(texts.join(' '))
  return match ? match[0].toUpperCase().replace(/BASE-?/, 'BASE-') : null
}

/** Returns a positive number, such as a wavelength; null for others and for values that mean unknown. */
export function positiveUpTo(max: number, value: number | null, factor = 1): number | null {
  const result = value === null ? 0 : value * factor
  return result > 0 && result <= max ? result : null
}
