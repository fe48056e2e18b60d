// What is announced, and what is not as its team wants it. Counts are asked for, not rows: there may be thousands.
import { Anchor, Skeleton, Text } from '@mantine/core'
import { announcementStatuses, listAnnouncementsRoute, type Announcement } from '@pharos/contract/byoip'
import { Link } from '@tanstack/react-router'
import { useAnswer } from '../api/queries.ts'
import { Problem } from '../ui/problem.tsx'
import { AnnouncementStatusBadge } from '../ui/status.tsx'
import { Part, Quiet, Row, Rows } from './part.tsx'
import classes from './overview.module.css'

const shownRows = 6
const refetch = { refetchInterval: 10_000 }
const notAnnounced = announcementStatuses.filter((status) => status !== 'announced')
const onRouters = ['announcing', 'announced', 'partially_announced', 'withdrawing', 'error'] as const

export function Announced() {
  const all = useAnswer(listAnnouncementsRoute, { query: { limit: 1 } }, refetch)
  const on = useAnswer(
    listAnnouncementsRoute,
    { query: { status: ['announced'], enabled: true, limit: 1 } },
    refetch,
  )
  const missing = useAnswer(
    listAnnouncementsRoute,
    { query: { enabled: true, status: notAnnounced, include: 'state_messages', limit: shownRows } },
    refetch,
  )
  const left = useAnswer(
    listAnnouncementsRoute,
    { query: { enabled: false, status: [...onRouters], include: 'state_messages', limit: shownRows } },
    refetch,
  )
  const answers = [all, on, missing, left]
  const error = answers.find((answer) => answer.error && !answer.data)?.error
  const unlike = (missing.data?.count ?? 0) + (left.data?.count ?? 0)
  const rows = [...(missing.data?.results ?? []), ...(left.data?.results ?? [])].slice(0, shownRows)
  const isReady = answers.every(({ data }) => data !== undefined)
  return (
    <Part title="Announcements" to="/announcements">
      {error && <Problem error={error} />}
      {!isReady && !error && <Skeleton height={96} />}
      {isReady && (
        <>
          <div className={classes['figures']}>
            <Figure name="announced" value={on.data!.count} search={{ status: ['announced'] }} />
            <Figure name="not as wanted" value={unlike} search={{ enabled: true, status: notAnnounced }} />
            <Figure name="in all" value={all.data!.count} search={{}} />
          </div>
          {all.data!.count === 0 ? (
            <Quiet>
              <Anchor component={Link} to={'/announcements/new' as never} size="sm">
                Bring a prefix of yours
              </Anchor>{' '}
              to have it announced.
            </Quiet>
          ) : (
            unlike === 0 && <Quiet>Every prefix is where its switch says.</Quiet>
          )}
          <Rows>
            {rows.map((row) => (
              <Unlike key={row.id} announcement={row} />
            ))}
          </Rows>
        </>
      )}
    </Part>
  )
}

const Figure = ({ name, value, search }: { name: string; value: number; search: object }) => (
  <Link to={'/announcements' as never} search={search as never} className={classes['figure']!}>
    <Text size="xs" c="dimmed">
      {name}
    </Text>
    <Text size="xl" fw={600} className={classes['value']!}>
      {value.toLocaleString('en')}
    </Text>
  </Link>
)

const Unlike = ({
  announcement: { id, cidr, status, enabled, state_messages: messages = [] },
}: {
  announcement: Announcement
}) => (
  <Row
    link={
      <Anchor component={Link} to={`/announcements/${id}` as never} ff="monospace" size="sm">
        {cidr}
      </Anchor>
    }
  >
    <AnnouncementStatusBadge status={status} />
    <Text span size="xs" c="dimmed" className={classes['rest']!}>
      {messages[0]?.message ?? (enabled ? 'switched on' : 'switched off')}
    </Text>
  </Row>
)
