// How busy a port is: its load now, its 95th percentile of 30 days, and the change from the 30 days before.
import { getPortUsageRoute, type PortUsage } from '@pharos/contract/inventory/usage'
import type { Port } from '@pharos/contract/inventory/port'
import { useAnswer } from '../api/queries.ts'
import { Figure } from '../ui/figure.tsx'
import { Grid } from '../ui/page.tsx'
import { formatRate } from '../ui/rate.ts'
import { StatePill } from '../ui/status.tsx'
import { useNow } from '../ui/use-now.ts'
import { loadOf, loadTrend, percentOf, trendDays } from './load-trend.ts'
import { ratesText } from './port-load.tsx'
import { words } from './words.ts'

const { load: texts } = words
const hourMs = 3_600_000
const daysMs = trendDays * 24 * hourMs

/** Renders only for a port whose traffic is known. */
export function LoadFigures({ port }: { readonly port: Port }) {
  const hour = Math.floor(useNow() / hourMs) * hourMs
  const [now, before] = [useP95(port.id, hour), useP95(port.id, hour - daysMs)]
  const { speed_bps: speed } = port
  const load = loadOf(port)
  if (load === undefined && now === null) return null
  const { share, isBusy, growth, busyInMonths } = loadTrend({ now, before, speed })
  return (
    <Grid min={150}>
      <Figure
        label={texts.now}
        value={load === undefined ? undefined : percentOf(load)}
        note={load !== undefined && ratesText(port)}
      />
      <Figure
        label={texts.p95}
        value={now === null ? undefined : formatRate(now, 'bps')}
        note={
          share !== undefined && (
            <>
              {texts.ofSpeed(percentOf(share), formatRate(speed!, 'bps'))}{' '}
              {isBusy && <StatePill color="warn">{texts.busy}</StatePill>}
            </>
          )
        }
      />
      <Figure
        label={texts.growth}
        value={growth === undefined ? undefined : texts.change(growth)}
        note={
          growth === undefined
            ? texts.growthUnknown
            : busyInMonths === undefined
              ? texts.beside
              : texts.busyIn(busyInMonths)
        }
      />
    </Grid>
  )
}

/** The 95th percentile of the greater direction in the 30 days until then; null if it is not known. */
function useP95(portId: number, until: number): number | null {
  const { data } = useAnswer(getPortUsageRoute, {
    params: { port_id: portId },
    query: {
      start: new Date(until - daysMs).toISOString(),
      end: new Date(until).toISOString(),
      points: 30,
    },
  })
  return data === undefined || data.samples < data.missing_samples ? null : greaterOf(data)
}

const greaterOf = ({ series }: PortUsage): number | null => {
  const known = series.flatMap(({ p95 }) => p95 ?? [])
  return known.length === 0 ? null : Math.max(...known)
}
