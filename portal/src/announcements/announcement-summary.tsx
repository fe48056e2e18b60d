// An announcement in brief, for the side panel of the list.
import { Skeleton } from '@mantine/core'
import {
  getAnnouncementRoute,
  listRegionsRoute,
  type Announcement,
} from '@pharos/contract/byoip/announcement'
import { useAnswer } from '../api/queries.ts'
import { Facts } from '../ui/facts.tsx'
import { Problem } from '../ui/problem.tsx'
import { announcementStatusShown, StatePill } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { blockedShown } from './condition.ts'
import { namesOfRegions } from './region-target.ts'
import { stepsOf } from './steps.ts'
import { words } from './words.ts'

const { facts: texts, steps } = words
const include = 'validations,region_states,details'

export function AnnouncementSummary({ id }: { id: string }) {
  const input = { params: { announcement_id: Number(id) }, query: { include } }
  const answer = useAnswer(getAnnouncementRoute, input, { refetchInterval: 10_000 })
  const regions = useAnswer(listRegionsRoute, { query: { limit: 1000 } })
  if (answer.error && !answer.data) return <Problem error={answer.error} retry={() => answer.refetch()} />
  if (!answer.data) return <Skeleton height={240} />
  return <Shown announcement={answer.data} named={namesOfRegions(regions.data?.results ?? [])} />
}

type ShownProps = { announcement: Announcement; named: (slugs: readonly string[]) => string }

function Shown({ announcement, named }: ShownProps) {
  const {
    label,
    color,
    moving = false,
  } = blockedShown(announcement) ?? announcementStatusShown(announcement.status)
  const [checks, ready, announced] = stepsOf(announcement)
  const { origin_asn, details, regions, created, last_check } = announcement
  return (
    <Facts
      facts={[
        [
          '',
          <StatePill key="state" color={color} moving={moving}>
            {label}
          </StatePill>,
        ],
        [texts.description, details?.description],
        [texts.origin, `AS${origin_asn}`],
        [texts.asSet, details?.as_set ?? undefined],
        [steps.checks, checks.text],
        [steps.ready, ready.text],
        [
          steps.announced,
          <span key="announced">
            {announced.text} {announced.at !== undefined && <Time at={announced.at} />}
          </span>,
        ],
        [texts.regions, named(regions)],
        [texts.compared, <Time key="compared" at={last_check} none={texts.never} />],
        [texts.created, <Time key="created" at={created} />],
      ]}
    />
  )
}
