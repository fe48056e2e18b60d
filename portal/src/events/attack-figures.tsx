// The four numbers of an attack: bit rate, packet rate, duration, and rank among the team's attacks.
import type { RelatedEventDetail } from '@pharos/contract/events/event'
import { listIncidentsRoute } from '@pharos/contract/events/incident'
import { Link } from '@tanstack/react-router'
import { useAnswer } from '../api/queries.ts'
import { Figure } from '../ui/figure.tsx'
import { Grid } from '../ui/page.tsx'
import { formatRate } from '../ui/rate.ts'
import { addressTime } from '../ui/time-range.ts'
import { Time } from '../ui/time.tsx'
import { bytesPerPacket, nth, rateNow } from './attack-text.ts'
import { durationOf } from './event-duration.ts'
import classes from './events.module.css'
import { useNow } from '../ui/use-now.ts'
import { words } from './words.ts'

const { page: texts } = words

export function AttackFigures({ event }: { event: RelatedEventDetail }) {
  const { start, end, affected_bps: bps, affected_pps: pps, parsed_data: parsed } = event
  const now = useNow(end === null, 1_000)
  const current = rateNow(event, now)
  const peakAt = parsed.peaks?.bps?.at
  const perPacket = bytesPerPacket(event)
  return (
    <Grid min={150}>
      <Figure
        label={current === undefined ? texts.peak : texts.now}
        value={
          current === undefined ? (bps > 0 ? formatRate(bps, 'bps') : undefined) : formatRate(current, 'bps')
        }
        note={
          current !== undefined
            ? texts.peakNote(formatRate(bps, 'bps'))
            : bps > 0
              ? peakAt && <Time at={peakAt} />
              : texts.rateUnknown
        }
        {...(end === null ? { color: 'bad' as const } : {})}
      />
      <Figure
        label={texts.packets}
        value={pps > 0 ? formatRate(pps, 'pps') : undefined}
        note={
          pps > 0
            ? perPacket !== undefined && texts.perPacket(perPacket.toLocaleString('en'))
            : texts.rateUnknown
        }
      />
      <Figure
        label={texts.duration}
        value={durationOf({ start, end }, now)}
        note={
          <>
            {end === null ? texts.since : texts.until} <Time at={end ?? start} />
          </>
        }
      />
      {bps > 0 && <Rank start={start} bps={bps} />}
    </Grid>
  )
}

const days = 30
const dayMs = 86_400_000

/** Two counts are enough: all attacks in the 30 days before its start, and the larger ones. */
function Rank({ start, bps }: { start: string; bps: number }) {
  const at = Date.parse(start)
  const window = { start: new Date(at - days * dayMs).toISOString(), end: start, false_positive: false }
  const all = useAnswer(listIncidentsRoute, { query: { ...window, limit: 1 } }).data?.count
  const larger = useAnswer(listIncidentsRoute, { query: { ...window, min_bps: bps + 1, limit: 1 } }).data
    ?.count
  if (all === undefined || larger === undefined) return <Figure label={texts.rank} value={undefined} />
  const search = {
    from: addressTime(Date.parse(window.start)),
    // Exclusive: the next minute includes this attack.
    to: addressTime(at + 60_000),
    sort: '-affected_bps',
    false_positive: false,
  }
  return (
    <Figure
      label={texts.rank}
      value={
        <Link to="/events" search={search} className={classes['figureLink']!}>
          {larger === 0 ? texts.rankFirst : texts.rankNth(nth(larger + 1))}
        </Link>
      }
      note={all === 1 ? texts.rankAlone : texts.rankNote(all.toLocaleString('en'))}
    />
  )
}
