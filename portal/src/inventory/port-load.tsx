// How full a port is: the greater of its two directions beside its speed.
import type { Port } from '@pharos/contract/inventory/port'
import { formatRate } from '../ui/rate.ts'
import { busyFrom } from './load-trend.ts'
import classes from './inventory.module.css'
import { words } from './words.ts'

type Rates = Pick<Port, 'in_bps' | 'out_bps' | 'speed_bps'>

/** From 0 to 1; undefined if a rate or the speed is not known. */
export function loadOf({ in_bps: inBps, out_bps: outBps, speed_bps: speed }: Rates): number | undefined {
  if (inBps === null || outBps === null || !speed) return undefined
  return Math.min(1, Math.max(inBps, outBps) / speed)
}

export const percentOf = (load: number): string =>
  `${load > 0 && load < 0.01 ? '< 1' : Math.round(100 * load)} %`

export const ratesText = ({ in_bps: inBps, out_bps: outBps }: Rates): string =>
  words.ports.rates(formatRate(inBps ?? 0, 'bps'), formatRate(outBps ?? 0, 'bps'))

/** A bar with its percent. Renders only if the load is known. */
export function PortLoad({ port }: { port: Rates }) {
  const load = loadOf(port)
  if (load === undefined) return '–'
  return (
    <span className={classes['load']} title={ratesText(port)}>
      <span className={classes['loadTrack']} aria-hidden>
        <span style={{ width: `${100 * load}%` }} data-high={load >= busyFrom || undefined} />
      </span>
      {percentOf(load)}
      {load >= busyFrom && ` ${words.load.busy.toLowerCase()}`}
    </span>
  )
}
