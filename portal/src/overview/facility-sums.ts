// The traffic of the team's ports by facility. Pure.
import type { Port } from '@pharos/contract/inventory/port'
import { loadOf } from '../inventory/load-trend.ts'

type Counted = Pick<
  Port,
  'id' | 'name' | 'location' | 'admin_status' | 'oper_status' | 'in_bps' | 'out_bps' | 'speed_bps' | 'lag_id'
>

export type FacilitySum = {
  /** Undefined for ports without a known place. */
  readonly name: string | undefined
  readonly up: number
  /** Disabled ports are not counted. */
  readonly ports: number
  /** Bits per second; null if no port is measured. */
  readonly inBps: number | null
  readonly outBps: number | null
  readonly busiest: { readonly id: number; readonly name: string; readonly load: number } | undefined
}

/** Returns the facilities, the one with the most traffic first. Members of a LAG count as their LAG. */
export const facilitySums = (ports: readonly Counted[]): readonly FacilitySum[] =>
  [...Map.groupBy(ports, ({ location }) => location?.name)]
    .map(([name, list]) => sumOf(name, list))
    .toSorted((a, b) => total(b) - total(a) || (a.name ?? '').localeCompare(b.name ?? ''))

const total = ({ inBps, outBps }: FacilitySum): number => (inBps ?? 0) + (outBps ?? 0)

function sumOf(name: string | undefined, ports: readonly Counted[]): FacilitySum {
  const enabled = ports.filter(({ admin_status: state }) => state === 'up')
  const counted = ports.filter(({ lag_id: lag }) => lag === null)
  const sum = (key: 'in_bps' | 'out_bps') => {
    const known = counted.flatMap((port) => port[key] ?? [])
    return known.length === 0 ? null : known.reduce((all, bps) => all + bps, 0)
  }
  const loads = counted.flatMap((port) => {
    const load = loadOf(port)
    return load === undefined ? [] : [{ id: port.id, name: port.name, load }]
  })
  return {
    name,
    up: enabled.filter(({ oper_status: state }) => state === 'up').length,
    ports: enabled.length,
    inBps: sum('in_bps'),
    outBps: sum('out_bps'),
    busiest: loads.toSorted((a, b) => b.load - a.load)[0],
  }
}
