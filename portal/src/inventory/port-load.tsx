// How full a port is: the greater of its two directions beside its speed.
import { formatRate } from '../ui/rate.ts'
import { busyFrom, loadOf, percentOf, type Rates } from './load-trend.ts'
import classes from './inventory.module.css'
import { words } from './words.ts'

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
