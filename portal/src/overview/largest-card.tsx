// The largest attacks of the last 30 days.
import { Skeleton, Text } from '@mantine/core'
import { classificationLabel } from '@pharos/contract/events/classification'
import { networkText } from '../events/network-text.ts'
import { TextLink } from '../ui/link.tsx'
import { Problem } from '../ui/problem.tsx'
import { formatRate } from '../ui/rate.ts'
import { Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import classes from './overview.module.css'
import type { Attacks } from './use-attacks.ts'
import { words } from './words.ts'

const { latest: texts } = words

type Props = { readonly recent: Attacks['recent']; readonly title?: string }

export const LargestCard = ({ recent, title = texts.title }: Props) => (
  <Section
    title={title}
    fill
    flush
    actions={
      <TextLink
        to="/events"
        search={{ range: '30d', sort: '-affected_bps', false_positive: false }}
        size="sm"
      >
        {texts.all}
      </TextLink>
    }
  >
    {!recent.data ? (
      <div className={classes['padded']}>
        {recent.error ? (
          <Problem error={recent.error} retry={() => recent.refetch()} />
        ) : (
          <Skeleton height={200} />
        )}
      </div>
    ) : recent.data.count === 0 ? (
      <Text size="sm" c="dimmed" className={classes['padded']!}>
        {texts.none}
      </Text>
    ) : (
      <table className={classes['table']}>
        <thead>
          <tr>
            <th scope="col">{texts.network}</th>
            <th scope="col">{texts.type}</th>
            <th scope="col" data-number>
              {texts.peak}
            </th>
            <th scope="col" data-wide>
              {texts.started}
            </th>
          </tr>
        </thead>
        <tbody>
          {recent.data.results.map(({ id, network, classification_key, affected_bps, start }) => (
            <tr key={id}>
              <td>
                <TextLink to="/events/$id" params={{ id }} ff="monospace" size="sm">
                  {networkText(network)}
                </TextLink>
              </td>
              <td>{classificationLabel(classification_key)}</td>
              <td data-number>{affected_bps > 0 ? formatRate(affected_bps, 'bps') : '–'}</td>
              <td data-wide>
                <Time at={start} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </Section>
)
