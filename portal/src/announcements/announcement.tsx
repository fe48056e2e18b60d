// One announcement: its progress in four steps, its checks with who acts, its regions on a map, letters, visibility, history and API.
// Enabling and disabling show their effect first.
import { Button, Menu, Skeleton, Tabs } from '@mantine/core'
import { useClipboard, useDisclosure } from '@mantine/hooks'
import { ProblemError } from '@pharos/contract/client'
import {
  getAnnouncementRoute,
  listAnnouncementHistoryRoute,
  listAnnouncementsRoute,
  listRegionsRoute,
  validateAnnouncementRoute,
  type Announcement,
  type Region,
} from '@pharos/contract/byoip/announcement'
import { listLettersRoute } from '@pharos/contract/byoip/letter'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { answerOf, invalidate, refetchIntervalOf, useAnswer } from '../api/queries.ts'
import { useGrant } from '../api/use-grant.ts'
import { Facts } from '../ui/facts.tsx'
import { TextLink } from '../ui/link.tsx'
import { notifyProblem, notifySuccess } from '../ui/notify.ts'
import { LazyTrafficCard } from '../traffic/lazy-traffic-card.tsx'
import { Columns, Page } from '../ui/page.tsx'
import { PageMenu } from '../ui/page-menu.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { announcementStatusShown, StatePill } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { usePageSearch } from '../ui/use-page-search.ts'
import classes from './announcements.module.css'
import { ApiTab } from './api-tab.tsx'
import { Checks } from './checks.tsx'
import { blockedShown, failingCount, hasOpenChecks, primaryAction } from './condition.ts'
import { DeleteDialog } from './delete-announcement.tsx'
import { DeletedAnnouncement } from './deleted-announcement.tsx'
import { EditAnnouncement } from './edit-announcement.tsx'
import { EnableDialog, type Change } from './enable-dialog.tsx'
import { History } from './history.tsx'
import { Letters } from './letters.tsx'
import { Messages } from './messages.tsx'
import { RegionMapCard } from './region-map-card.tsx'
import { regionCount } from './region-count.ts'
import { Regions } from './regions.tsx'
import { Stepper } from './stepper.tsx'
import { tabsOfAnnouncement, type AnnouncementTab } from './tabs.ts'
import { Visibility } from './visibility.tsx'
import { words } from './words.ts'

const { head: texts } = words
const include = 'validations,region_states,state_messages,details,visibility'

const isNotFound = (error: unknown) => error instanceof ProblemError && error.problem.code === 'not_found'

/** Checks change without a message of the stream. */
const openChecksMs = 10_000
const withoutStreamMs = 3_000

function pollOf(announcement: Announcement | undefined): number | false {
  const ms = refetchIntervalOf(getAnnouncementRoute, withoutStreamMs)
  const isWaiting = announcement !== undefined && hasOpenChecks(announcement)
  return ms !== false && isWaiting ? Math.min(ms, openChecksMs) : ms
}

export function AnnouncementPage() {
  const { id } = useParams({ from: '/frame/announcements/$id' })
  const params = { announcement_id: Number(id) }
  const answer = useQuery({
    ...answerOf(getAnnouncementRoute, { params, query: { include } }),
    refetchInterval: ({ state }) => !isNotFound(state.error) && pollOf(state.data),
  })
  const regions = useAnswer(listRegionsRoute, { query: { limit: 1000 } })
  // Deleted, now or earlier: data read before is out of date.
  if (isNotFound(answer.error)) return <DeletedAnnouncement id={Number(id)} error={answer.error} />
  if (answer.error && !answer.data)
    return (
      <Page title={words.title}>
        <Problem error={answer.error} retry={() => answer.refetch()} />
        <TextLink to="/announcements" size="sm">
          {words.all}
        </TextLink>
      </Page>
    )
  if (!answer.data)
    return (
      <Page title={words.title}>
        <Skeleton height={72} radius="lg" />
        <Skeleton height={320} radius="lg" />
      </Page>
    )
  return <Shown announcement={answer.data} regions={regions.data?.results ?? []} />
}

function useTab(announcement: Announcement) {
  const { search, setSearch } = usePageSearch('/announcements/$id')
  const first: AnnouncementTab = announcement.enabled ? 'regions' : 'checks'
  const [initial] = useState(first)
  const tab = tabsOfAnnouncement.find((one) => one === search.tab) ?? initial
  const setTab = (next: string | null) =>
    setSearch({ tab: tabsOfAnnouncement.find((one) => one === next), show: undefined })
  return { tab, setTab }
}

function Shown({ announcement, regions }: { announcement: Announcement; regions: readonly Region[] }) {
  const { cidr, origin_asn, details } = announcement
  const [change, setChange] = useState<Change>()
  // The traffic of a new announcement appears after its card.
  const [wasEnabled] = useState(announcement.enabled)
  const [asking, { open, close }] = useDisclosure(false)
  const { tab, setTab } = useTab(announcement)
  const state = blockedShown(announcement) ?? announcementStatusShown(announcement.status)
  const failing = failingCount(announcement)
  function ask(next: Change) {
    setChange(next)
    open()
  }
  return (
    <Page
      title={cidr}
      mono
      state={
        <>
          <StatePill color={state.color} moving={state.moving ?? false}>
            {state.label}
          </StatePill>
          {failing > 0 && <StatePill color="warn">{texts.failing(failing)}</StatePill>}
        </>
      }
      note={
        <>
          {details?.description ? `${details.description} · ` : ''}
          {texts.origin}{' '}
          <TextLink to="/asns/$asn" params={{ asn: String(origin_asn) }} size="sm" ff="monospace">
            AS{origin_asn}
          </TextLink>
        </>
      }
      actions={<Actions announcement={announcement} regions={regions} onAsk={ask} onTab={setTab} />}
    >
      <Stepper announcement={announcement} />
      <Messages announcement={announcement} />
      <Columns
        rail={
          <>
            <RegionMapCard announcement={announcement} regions={regions} />
            <Details announcement={announcement} />
          </>
        }
      >
        {announcement.enabled && (
          <LazyTrafficCard
            filters={[{ key: 'local_address', op: 'within', values: [cidr] }]}
            name={cidr}
            height={160}
            {...(wasEnabled ? {} : { isOptional: true, isLate: true })}
          />
        )}
        <Tabs value={tab} onChange={setTab} keepMounted={false}>
          <AnnouncementTabs announcement={announcement} regions={regions} />
          <TabPanels announcement={announcement} regions={regions} onChange={ask} />
        </Tabs>
      </Columns>
      {change && (
        <EnableDialog
          announcement={announcement}
          regions={regions}
          change={change}
          opened={asking}
          onClose={close}
        />
      )}
    </Page>
  )
}

type PanelsProps = {
  announcement: Announcement
  regions: readonly Region[]
  onChange: (change: Change) => void
}

const TabPanels = ({ announcement, regions, onChange }: PanelsProps) => (
  <>
    <Tabs.Panel value="checks" pt="md">
      <Checks announcement={announcement} />
    </Tabs.Panel>
    <Tabs.Panel value="regions" pt="md">
      <Regions announcement={announcement} regions={regions} onChange={onChange} />
    </Tabs.Panel>
    <Tabs.Panel value="letters" pt="md">
      <Letters announcement={announcement} />
    </Tabs.Panel>
    <Tabs.Panel value="visibility" pt="md">
      <Visibility announcement={announcement} />
    </Tabs.Panel>
    <Tabs.Panel value="history" pt="md">
      <History id={announcement.id} />
    </Tabs.Panel>
    <Tabs.Panel value="api" pt="md">
      <ApiTab announcement={announcement} />
    </Tabs.Panel>
  </>
)

type TabsProps = { announcement: Announcement; regions: readonly Region[] }

function AnnouncementTabs({ announcement, regions }: TabsProps) {
  const { id, validations = [] } = announcement
  const letters = useAnswer(listLettersRoute, { query: { announcement_id: [id], limit: 100 } })
  const history = useAnswer(listAnnouncementHistoryRoute, {
    params: { announcement_id: id },
    query: { limit: 1 },
  })
  const open = validations.filter(({ state }) => state !== 'valid').length
  const counts: Readonly<Partial<Record<AnnouncementTab, string | undefined>>> = {
    checks: String(open > 0 ? open : validations.length),
    regions: regionCount(
      announcement,
      regions.map(({ slug }) => slug),
    )?.text,
    letters: letters.data?.count.toLocaleString('en'),
    history: history.data?.count.toLocaleString('en'),
  }
  return (
    <Tabs.List>
      {tabsOfAnnouncement.map((one) => (
        <Tabs.Tab key={one} value={one}>
          {words.tabs[one]}
          {counts[one] !== undefined && (
            <span className={classes['count']} data-color={one === 'checks' && open > 0 ? 'warn' : undefined}>
              {counts[one]}
            </span>
          )}
        </Tabs.Tab>
      ))}
    </Tabs.List>
  )
}

type ActionsProps = {
  announcement: Announcement
  regions: readonly Region[]
  onAsk: (change: Change) => void
  onTab: (tab: AnnouncementTab) => void
}

function Actions({ announcement, regions, onAsk, onTab }: ActionsProps) {
  const canManage = useGrant('ipam.manage')
  const canOperate = useGrant('ipam.operate')
  const check = useCheck(announcement.id)
  const primary = primaryAction(announcement)
  return (
    <>
      {canOperate && primary === 'announce' && (
        <Button data-action="announce" onClick={() => onAsk({ enabled: true })}>
          {texts.announce}
        </Button>
      )}
      {canOperate && primary === 'withdraw' && (
        <Button data-action="withdraw" variant="default" onClick={() => onAsk({ enabled: false })}>
          {texts.withdraw}
        </Button>
      )}
      {canOperate && primary === 'check' && (
        <Button
          data-action="check"
          variant={hasOpenChecks(announcement) ? 'filled' : 'default'}
          loading={check.isPending}
          onClick={() => check.mutate()}
        >
          {texts.check}
        </Button>
      )}
      {canManage && (
        <EditAnnouncement
          announcement={announcement}
          regions={regions}
          trigger={(start) => (
            <Button variant="default" onClick={start}>
              {texts.edit}
            </Button>
          )}
        />
      )}
      <MoreActions announcement={announcement} check={check} onTab={onTab} />
    </>
  )
}

/** Runs the checks again. */
function useCheck(id: number) {
  return useMutation({
    mutationFn: () => call(validateAnnouncementRoute, { params: { announcement_id: id } }),
    onSuccess: () => {
      notifySuccess(texts.checking)
      return invalidate(getAnnouncementRoute, listAnnouncementsRoute)
    },
    onError: notifyProblem,
  })
}

type MoreActionsProps = Pick<ActionsProps, 'announcement' | 'onTab'> & { check: ReturnType<typeof useCheck> }

function MoreActions({ announcement, check, onTab }: MoreActionsProps) {
  const { cidr, enabled } = announcement
  const canManage = useGrant('ipam.manage')
  const canOperate = useGrant('ipam.operate')
  const clipboard = useClipboard()
  const [deleting, { open: askDelete, close: stopDelete }] = useDisclosure(false)
  return (
    <>
      <PageMenu label={texts.more} width={240}>
        {canOperate && primaryAction(announcement) !== 'check' && (
          <Menu.Item data-action="check" disabled={check.isPending} onClick={() => check.mutate()}>
            {texts.check}
          </Menu.Item>
        )}
        <Menu.Item onClick={() => onTab('regions')}>{texts.chooseRegions}</Menu.Item>
        {canManage && <Menu.Item onClick={() => onTab('letters')}>{texts.uploadLetter}</Menu.Item>}
        <Menu.Item onClick={() => clipboard.copy(cidr)}>{texts.copyPrefix}</Menu.Item>
        {canManage && (
          <>
            <Menu.Divider />
            <Menu.Item
              color="bad"
              disabled={enabled}
              onClick={askDelete}
              rightSection={enabled ? texts.removeFirst : undefined}
            >
              {texts.remove}
            </Menu.Item>
          </>
        )}
      </PageMenu>
      <DeleteDialog announcement={announcement} opened={deleting} onClose={stopDelete} />
    </>
  )
}

function Details({ announcement }: { announcement: Announcement }) {
  const { id, origin_asn, details, created, last_check } = announcement
  const { facts } = words
  return (
    <Section title={facts.title}>
      <Facts
        facts={[
          [
            facts.origin,
            <TextLink key="asn" to="/asns/$asn" params={{ asn: String(origin_asn) }} size="sm" ff="monospace">
              AS{origin_asn}
            </TextLink>,
          ],
          [facts.asSet, details?.as_set ?? facts.noAsSet],
          [facts.description, details?.description || null],
          [facts.created, <Time key="created" at={created} />],
          [facts.compared, <Time key="compared" at={last_check} none={facts.never} />],
          [facts.held, details?.claimed ? <Time key="held" at={details.claimed} /> : undefined],
          [facts.id, String(id)],
        ]}
      />
    </Section>
  )
}
