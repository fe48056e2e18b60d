// Compares the counters of a port's interface with its flow records, over the same hours. Pure.
import type { FlowDifference, PortFlowRecords } from '@pharos/contract/inventory/port-flows'

/** Octets of one hour; `in` is received by the customer. Null: not measured. */
export type CountedHour = {
  /** Its start, Unix milliseconds. */
  readonly at: number
  readonly octetsIn: number | null
  readonly octetsOut: number | null
}

/** The flow records of hours, with known reasons of a difference. */
export type FlowRecords = {
  readonly hours: readonly { readonly at: number; readonly octetsIn: number; readonly octetsOut: number }[]
  readonly samplingRate: number | null
  readonly check: { readonly hour: Date; readonly ratio: number } | null
  readonly differences: readonly FlowDifference[]
}

/** Less than this part of a direction: the router does not export the rest of it. */
const exportedMin = 0.7

export function compareFlows(counted: readonly CountedHour[], records: FlowRecords): PortFlowRecords {
  const flowsOf = new Map(records.hours.map((hour) => [hour.at, hour]))
  const both = counted.flatMap((hour) => {
    const flows = flowsOf.get(hour.at)
    return flows ? [{ hour, flows }] : []
  })
  const total = (values: readonly (number | null)[]): number | null =>
    values.length === 0 || values.includes(null)
      ? null
      : values.reduce<number>((sum, value) => sum + value!, 0)
  const countedIn = total(both.map(({ hour }) => hour.octetsIn))
  const countedOut = total(both.map(({ hour }) => hour.octetsOut))
  const octetsIn = total(both.map(({ flows }) => flows.octetsIn))
  const octetsOut = total(both.map(({ flows }) => flows.octetsOut))
  const ratios = [ratioOf(octetsIn, countedIn), ratioOf(octetsOut, countedOut)] as const
  const isPart = ratios.some((ratio) => ratio !== null && ratio < exportedMin)
  const differences = new Set(records.differences)
  if (isPart && !differences.has('implausible')) differences.add('not_exported')
  return {
    hours: both.length,
    counted_octets_in: countedIn,
    counted_octets_out: countedOut,
    octets_in: octetsIn,
    octets_out: octetsOut,
    ratio_in: ratios[0],
    ratio_out: ratios[1],
    sampling_rate: records.samplingRate,
    differences: [...differences],
    checked_hour: records.check?.hour.toISOString() ?? null,
    checked_ratio: records.check === null ? null : rounded(records.check.ratio),
  }
}

const rounded = (ratio: number): number => Math.round(ratio * 1000) / 1000

const ratioOf = (flows: number | null, counted: number | null): number | null =>
  flows === null || counted === null || counted === 0 ? null : rounded(flows / counted)
