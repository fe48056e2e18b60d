// The detector of Pharos itself, in the collector of flows: its reports are deliveries like any other, in the form of
// `Detection` of collector/detector/detection.ts. The settings are the threshold of all addresses without an entry in
// the section detector_thresholds of the platform file; docs/detectors.md describes both.
import type { Threshold } from '../../flow/threshold.ts'
import { createMappedNormaliser } from './generic.ts'
import { readKindSettings } from './settings.ts'
import { settingError, type Normaliser, type Source } from './source.ts'

export const flows: Source = {
  kind: 'flows',
  label: 'the detector of Pharos, from flows',
  createNormaliser(settings) {
    parseDefaults(settings)
    return normalise
  },
}

const mapped = createMappedNormaliser({
  fields: {
    id: '/id',
    network: '/network',
    start: '/start',
    end: '/end',
    observed: '/observed',
    status: '/status',
    direction: '/direction',
    classification: '/classification',
    description: '/description',
    protocols: '/protocols',
    bps: '/bps',
    pps: '/pps',
    threshold_bps: '/threshold_bps',
    threshold_pps: '/threshold_pps',
    total_bytes: '/total_bytes',
    total_packets: '/total_packets',
  },
})

/** How sure the detector is of the peak, beside the thresholds: `parsed_data` has no other place for it. */
const certainties = {
  peak_lower_bps: 'lower_bps',
  peak_lower_pps: 'lower_pps',
  samples: 'samples',
  share: 'leading_share',
} as const

const normalise: Normaliser = (body, notes) => {
  const stated = Object.entries(certainties).flatMap(([field, name]) => {
    const value = (body as Readonly<Record<string, unknown>> | null)?.[field]
    return typeof value === 'number' && value >= 0 ? [[name, value] as const] : []
  })
  return mapped(body, notes).map((observation) => ({
    ...observation,
    seen: {
      ...observation.seen,
      ...(stated.length > 0 && {
        thresholds: { ...observation.seen.thresholds, ...Object.fromEntries(stated) },
      }),
    },
  }))
}

const numbers = [
  'bps',
  'pps',
  'ratio',
  'network_bps',
  'network_pps',
  'outgoing_bps',
  'outgoing_pps',
  'min_seconds',
] as const

/**
 * Parses the settings of a source of this kind: the threshold of addresses without an entry in `detector_thresholds`,
 * if any. Throws NormaliseError.
 */
export function parseDefaults(settings: unknown): readonly Threshold[] {
  const fields = readKindSettings(settings, numbers)
  const { bps, pps, ratio, network_bps, network_pps, outgoing_bps, outgoing_pps, min_seconds } =
    Object.fromEntries(numbers.map((name) => [name, readPositive(fields[name], `settings.${name}`)]))
  if (numbers.every((name) => fields[name] === undefined)) return []
  // A ratio alone would make any traffic of a new customer an attack.
  if (bps === undefined && pps === undefined) throw settingError('settings', 'bps or pps is required')
  if (ratio !== undefined && ratio <= 1) throw settingError('settings.ratio', 'must be greater than 1')
  if (min_seconds !== undefined && min_seconds > 600)
    throw settingError('settings.min_seconds', 'must be at most 600')
  return [
    {
      ...(bps === undefined ? {} : { bps }),
      ...(pps === undefined ? {} : { pps }),
      ...(ratio === undefined ? {} : { ratio }),
      ...(network_bps === undefined ? {} : { networkBps: network_bps }),
      ...(network_pps === undefined ? {} : { networkPps: network_pps }),
      ...(outgoing_bps === undefined ? {} : { outgoingBps: outgoing_bps }),
      ...(outgoing_pps === undefined ? {} : { outgoingPps: outgoing_pps }),
      ...(min_seconds === undefined ? {} : { minSeconds: min_seconds }),
    },
  ]
}

function readPositive(value: unknown, place: string): number | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value
  throw settingError(place, 'a number greater than 0 is expected')
}
