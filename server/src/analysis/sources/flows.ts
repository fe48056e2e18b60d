// The detector of Pharos itself, in the collector of flows: its reports are deliveries like those of any other detector, in the form of
// `Detection` of ../detector/detector.ts. The settings contain its thresholds; docs/detectors.md describes them.
//
//   thresholds:
//     - { bps: 2000000000, pps: 400000, ratio: 4 }                  all destinations
//     - { team: acme, bps: 500000000 }                              those of a team
//     - { prefix: 203.0.113.0/24, bps: 100000000, network_bps: 300000000 }
import type { Threshold } from '../detector/threshold.ts'
import { createMappedNormaliser } from './generic.ts'
import { readList, readNetwork, readObject, readText } from './reading.ts'
import { readKindSettings } from './settings.ts'
import { settingError, type Source } from './source.ts'

export const flows: Source = {
  kind: 'flows',
  label: 'the detector of Pharos, from flows',
  createNormaliser(settings) {
    readThresholds(settings)
    return normalise
  },
}

const normalise = createMappedNormaliser({
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

const numbers = ['bps', 'pps', 'ratio', 'network_bps', 'network_pps'] as const
const names = ['team', 'prefix', ...numbers]
const thresholdsMax = 10_000

/** Parses the settings of a source of this kind. Throws NormaliseError. */
export function readThresholds(settings: unknown): readonly Threshold[] {
  const { thresholds = [] } = readKindSettings(settings, ['thresholds'])
  const list = readList(thresholds, 'settings.thresholds')
  if (list.length > thresholdsMax)
    throw settingError('settings.thresholds', `at most ${thresholdsMax} are possible`)
  return list.map((value, index) => readThreshold(value, `settings.thresholds.${index}`))
}

function readThreshold(value: unknown, place: string): Threshold {
  const fields = readObject(value, place)
  for (const name of Object.keys(fields)) {
    if (!names.includes(name))
      throw settingError(`${place}.${name}`, `is unknown; known are ${names.join(', ')}`)
  }
  const { bps, pps, ratio, network_bps, network_pps } = Object.fromEntries(
    numbers.map((name) => [name, readPositive(fields[name], `${place}.${name}`)]),
  )
  // A ratio alone would make any traffic of a new customer an attack.
  if (bps === undefined && pps === undefined) throw settingError(place, 'bps or pps is required')
  if (ratio !== undefined && ratio <= 1) throw settingError(`${place}.ratio`, 'must be greater than 1')
  return {
    ...(fields['team'] === undefined ? {} : { team: readText(fields['team'], `${place}.team`) }),
    ...(fields['prefix'] === undefined ? {} : { prefix: readNetwork(fields['prefix'], `${place}.prefix`) }),
    ...(bps === undefined ? {} : { bps }),
    ...(pps === undefined ? {} : { pps }),
    ...(ratio === undefined ? {} : { ratio }),
    ...(network_bps === undefined ? {} : { networkBps: network_bps }),
    ...(network_pps === undefined ? {} : { networkPps: network_pps }),
  }
}

function readPositive(value: unknown, place: string): number | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value
  throw settingError(place, 'a number greater than 0 is expected')
}
