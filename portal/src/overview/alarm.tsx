// One line while the team is attacked: the largest attack and the way to it.
import { classificationLabel } from '@pharos/contract/events/classification'
import type { Incident } from '@pharos/contract/events/incident'
import { durationOf } from '../events/event-duration.ts'
import { networkText } from '../events/network-text.ts'
import { useNow } from '../ui/use-now.ts'
import { ButtonLink, TextLink } from '../ui/link.tsx'
import { formatRate } from '../ui/rate.ts'
import { StatePill } from '../ui/status.tsx'
import classes from './overview.module.css'
import { words } from './words.ts'

const { alarm: texts } = words

export function Alarm({ largest, count }: { largest: Incident; count: number }) {
  const { id, network, classification_key: type, affected_bps: bps, relationships } = largest
  const now = useNow(true, 10_000)
  const name = relationships.find(
    ({ match_resource: kind, match_resouce_name: name, match_value: value }) =>
      kind !== 'asn' && name !== value,
  )?.match_resouce_name
  return (
    <section className={classes['alarm']} aria-label={texts.label}>
      <StatePill color="bad" moving>
        {texts.count(count)}
      </StatePill>
      <div className={classes['alarmText']}>
        {count > 1 && `${texts.largest} `}
        <TextLink to="/events/$id" params={{ id }} ff="monospace" fw={600} c="inherit">
          {networkText(network)}
        </TextLink>
        {name !== undefined && ` · ${name}`} · {classificationLabel(type)}
        {bps > 0 && (
          <>
            {' '}
            <b>{formatRate(bps, 'bps')}</b>
          </>
        )}{' '}
        {texts.for(durationOf(largest, now))}
      </div>
      <div className={classes['alarmTools']}>
        <ButtonLink to="/events/$id" params={{ id }} color="bad">
          {texts.open}
        </ButtonLink>
        <ButtonLink to="/events" search={{ ongoing: true }} variant="default">
          {texts.all}
        </ButtonLink>
      </div>
    </section>
  )
}
