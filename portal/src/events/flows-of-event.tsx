// The flow records towards the target of an event, from a while before its start until a while after its end, to compare with the
// report of the detector.
import type { RelatedEventDetail } from '@pharos/contract/events/event'
import type { ChartMark } from '../charts/chart-props.ts'
import { LazyTrafficCard } from '../traffic/lazy-traffic-card.tsx'
import { flowsNote } from './flows-note.ts'
import { networkText } from './network-text.ts'
import { words } from './words.ts'

const { traffic: texts } = words
const minuteMs = 60_000
const marginMs = 15 * minuteMs

type Props = {
  readonly event: Pick<RelatedEventDetail, 'start' | 'end' | 'affected_bps' | 'affected_network' | 'flags'>
}

/** Renders only if there are flow records of that time. */
export function FlowsOfEvent({ event }: Props) {
  const { start, end, affected_network: network, flags } = event
  const at = Date.parse(start)
  const until = end === null ? undefined : Date.parse(end)
  const whole = (ms: number, round: (value: number) => number) =>
    new Date(round(ms / minuteMs) * minuteMs).toISOString()
  const marks: readonly ChartMark[] = [
    { at, label: texts.started, state: 'bad' },
    ...(until === undefined ? [] : [{ at: until, label: texts.ended }]),
  ]
  return (
    <LazyTrafficCard
      title={texts.flows}
      note={(flows) => flowsNote(event, flows)}
      name={networkText(network)}
      direction={flags.includes('OUTGOING') ? 'out' : 'in'}
      filters={[{ key: 'local_address', op: 'within', values: [network] }]}
      span={{
        start: whole(at - marginMs, Math.floor),
        ...(until === undefined || until + marginMs > Date.now()
          ? {}
          : { end: whole(until + marginMs, Math.ceil) }),
      }}
      marks={marks}
      height={280}
      isOptional
      isLate
    />
  )
}
