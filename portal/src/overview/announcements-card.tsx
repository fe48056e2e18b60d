// A few announcements with their state, sorted by urgency.
import { Skeleton, Text } from '@mantine/core'
import type { Announcement } from '@pharos/contract/byoip/announcement'
import { RegionCount } from '../announcements/region-cell.tsx'
import { TextLink } from '../ui/link.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { AnnouncementStatusBadge } from '../ui/status.tsx'
import type { Answer } from './figures.tsx'
import classes from './overview.module.css'
import { urgentFirst } from './prefix-counts.ts'
import { words } from './words.ts'

const { announcements: texts } = words

type Props = {
  readonly answer: Answer<{ readonly results: readonly Announcement[]; readonly count: number }>
  /** The slugs of all regions that the team can use. */
  readonly open: readonly string[]
  /** The most rows. */
  readonly rows: number
  readonly title?: string
  /** Only announcements in this region. */
  readonly region?: string | undefined
}

export const AnnouncementsCard = ({ answer, open, rows, title = texts.title, region }: Props) => (
  <Section
    title={title}
    fill
    flush
    actions={
      answer.data && (
        <TextLink to="/announcements" search={region === undefined ? {} : { region: [region] }} size="sm">
          {texts.all(answer.data.count)}
        </TextLink>
      )
    }
  >
    {answer.data?.count === 0 ? (
      <Text size="sm" c="dimmed" className={classes['padded']!}>
        {texts.none}
      </Text>
    ) : answer.data ? (
      <table className={classes['table']}>
        <thead>
          <tr>
            <th scope="col">{texts.prefix}</th>
            <th scope="col">{texts.status}</th>
            <th scope="col">{texts.regions}</th>
            <th scope="col" data-wide>
              {texts.origin}
            </th>
          </tr>
        </thead>
        <tbody>
          {urgentFirst(answer.data.results, rows).map((row) => (
            <tr key={row.id}>
              <td>
                <TextLink to="/announcements/$id" params={{ id: String(row.id) }} ff="monospace" size="sm">
                  {row.cidr}
                </TextLink>{' '}
                {row.details?.description && (
                  <span className={classes['dim']}>{row.details.description}</span>
                )}
              </td>
              <td>
                <AnnouncementStatusBadge status={row.status} />
              </td>
              <td>
                <RegionCount announcement={row} open={open} />
              </td>
              <td data-wide className={classes['mono']}>
                AS{row.origin_asn}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    ) : (
      <div className={classes['padded']}>
        {answer.error ? (
          <Problem error={answer.error} retry={() => answer.refetch()} />
        ) : (
          <Skeleton height={200} />
        )}
      </div>
    )}
  </Section>
)
