// The first page: whether the team is attacked, and the panels that the user, or the team, has chosen. Only panels in view send requests.
import { Button, Text } from '@mantine/core'
import { classificationLabel } from '@pharos/contract/events/classification'
import type { Incident } from '@pharos/contract/events/incident'
import type { User } from '@pharos/contract/session/session'
import type { ViewPanel } from '@pharos/contract/team/view'
import { IconLayoutDashboard } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import { useSeenModules } from '../api/use-grant.ts'
import { useUser } from '../api/use-session.ts'
import { durationOf } from '../events/event-duration.ts'
import { networkText } from '../events/network-text.ts'
import { ButtonLink, TextLink } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { formatRate } from '../ui/rate.ts'
import { StatePill } from '../ui/status.tsx'
import { useNow } from '../ui/use-now.ts'
import { useOverviewLayout } from '../ui/use-overview-layout.ts'
import { FirstSteps } from './first-steps.tsx'
import classes from './overview.module.css'
import { PanelContent, useAnnouncementCounts } from './panel-content.tsx'
import { Panel } from './panel.tsx'
import { useOngoing, useRecent } from './use-attacks.ts'
import { words } from './words.ts'

const loadEditor = async () => ({ default: (await import('./edit-overview.tsx')).EditOverview })
const EditOverview = lazy(loadEditor)

export function Overview() {
  const user = useUser()
  return user ? <Shown user={user} /> : null
}

function Shown({ user }: { user: User }) {
  const has = useSeenModules()
  const [isWatched, isRouted] = [has('lighthouse'), has('ipam')]
  const layout = useOverviewLayout()
  const [isEditing, setEditing] = useState(false)
  const ongoing = useOngoing(isWatched)
  const counts = useAnnouncementCounts(isRouted)
  const isNew = isRouted && counts.data?.total === 0
  const recent = useRecent(isWatched && isNew, 6)
  const isQuiet = isNew && (!isWatched || recent.data?.count === 0)
  const largest = ongoing.data?.results[0]
  const panels = layout.isBuiltIn && isQuiet ? layout.panels.filter(isForNew) : layout.panels
  if (isEditing)
    return (
      <Suspense fallback={null}>
        <EditOverview
          layout={layout}
          panels={panels}
          note={user.current_team.name}
          onClose={() => setEditing(false)}
        />
      </Suspense>
    )
  return (
    <Page
      title={words.title}
      note={user.current_team.name}
      wide
      actions={
        <Button
          size="xs"
          variant="default"
          leftSection={<IconLayoutDashboard size={14} />}
          disabled={!layout.isKnown}
          onPointerEnter={() => void loadEditor()}
          onClick={() => setEditing(true)}
        >
          {words.edit.open}
        </Button>
      }
    >
      {largest && <Alarm largest={largest} count={ongoing.data!.count} />}
      {layout.error !== undefined && (
        <>
          <Problem error={layout.error} retry={layout.retry} />
          <Text size="sm" c="dimmed">
            {words.panels.failed}
          </Text>
        </>
      )}
      {isNew && <FirstSteps />}
      {panels.length === 0 && (
        <Text size="sm" c="dimmed">
          {words.edit.none}
        </Text>
      )}
      <div className={classes['cards']}>
        {panels.map((panel, at) => (
          <Panel key={`${at} ${panel.kind} ${panel.search}`} panel={panel}>
            <PanelContent panel={panel} isBuiltIn={layout.isBuiltIn} />
          </Panel>
        ))}
      </div>
    </Page>
  )
}

/** Excludes panels that are empty for a team without announcements and attacks. */
const isForNew = ({ kind }: ViewPanel): boolean =>
  !['traffic', 'attacks', 'largest', 'announcements'].includes(kind)

/** One line while the team is attacked: the largest attack and the way to it. */
function Alarm({ largest, count }: { largest: Incident; count: number }) {
  const { id, network, classification_key: type, affected_bps: bps, relationships } = largest
  const now = useNow(true, 10_000)
  const name = relationships.find(
    ({ match_resource: kind, match_resouce_name: name, match_value: value }) =>
      kind !== 'asn' && name !== value,
  )?.match_resouce_name
  return (
    <section className={classes['alarm']} aria-label={words.alarm.label}>
      <StatePill color="bad" moving>
        {words.alarm.count(count)}
      </StatePill>
      <div className={classes['alarmText']}>
        {count > 1 && `${words.alarm.largest} `}
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
        {words.alarm.for(durationOf(largest, now))}
      </div>
      <div className={classes['alarmTools']}>
        <ButtonLink to="/events/$id" params={{ id }} color="bad">
          {words.alarm.open}
        </ButtonLink>
        <ButtonLink to="/events" search={{ ongoing: true }} variant="default">
          {words.alarm.all}
        </ButtonLink>
      </div>
    </section>
  )
}
