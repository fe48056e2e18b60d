// One announcement: its state in each region and in other networks, its checks with what fixes them, its letters and its history. Enabling and
// disabling show their effect first.
import { Alert, Button, Group, Skeleton, Tabs } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { ProblemError } from '@pharos/contract/client'
import {
  getAnnouncementRoute,
  listAnnouncementsRoute,
  validateAnnouncementRoute,
  type Announcement,
} from '@pharos/contract/byoip'
import { IconRefresh } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { call } from '../api/call.ts'
import { answerOf, invalidate } from '../api/queries.ts'
import { CopyIcon } from '../ui/copy.tsx'
import { TextLink } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { notifyProblem, notifySuccess } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { AnnouncementStatusBadge } from '../ui/status.tsx'
import { usePageSearch } from '../ui/use-page-search.ts'
import { DeleteButton } from './delete-announcement.tsx'
import { DeletedAnnouncement } from './deleted-announcement.tsx'
import { History } from './history.tsx'
import { Letters } from './letters.tsx'
import { Messages } from './messages.tsx'
import { Regions } from './regions.tsx'
import { EnableDialog, type Change } from './enable-dialog.tsx'
import { Validations } from './validations.tsx'
import { Visibility } from './visibility.tsx'

const include = 'validations,region_states,state_messages,details,visibility'

const isNotFound = (error: unknown) => error instanceof ProblemError && error.problem.code === 'not_found'

export function AnnouncementPage() {
  const { id } = useParams({ from: '/frame/announcements/$id' })
  const params = { announcement_id: Number(id) }
  const answer = useQuery({
    ...answerOf(getAnnouncementRoute, { params, query: { include } }),
    // The stream announces changes of the status only: single checks and regions are polled.
    refetchInterval: ({ state }) => !isNotFound(state.error) && 3_000,
  })
  // Deleted, now or earlier: data read before is out of date.
  if (isNotFound(answer.error)) return <DeletedAnnouncement id={Number(id)} error={answer.error} />
  if (answer.error && !answer.data) return <Problem error={answer.error} />
  if (!answer.data) return <Skeleton height={240} />
  return <Shown announcement={answer.data} />
}

const tabs = ['checks', 'letters', 'history'] as const

function useTab() {
  const { search, setSearch } = usePageSearch('/announcements/$id')
  const setTab = (next: string | null) =>
    setSearch({ tab: next === 'letters' || next === 'history' ? next : undefined, show: undefined })
  return { tab: tabs.find((one) => one === search.tab) ?? tabs[0], setTab }
}

function Shown({ announcement }: { announcement: Announcement }) {
  const { id, cidr, origin_asn, status, details } = announcement
  const [change, setChange] = useState<Change>()
  const [asking, { open, close }] = useDisclosure(false)
  const { tab, setTab } = useTab()
  const tabsElement = useRef<HTMLDivElement>(null)
  function showChecks() {
    setTab('checks')
    tabsElement.current?.scrollIntoView()
  }
  function ask(next: Change) {
    setChange(next)
    open()
  }
  return (
    <Page
      title={cidr}
      note={
        <Group gap="xs">
          <TextLink to="/asns/$asn" params={{ asn: String(origin_asn) }} size="sm">
            AS{origin_asn}
          </TextLink>
          {details?.as_set && <span>· {details.as_set}</span>}
          {details?.description && <span>· {details.description}</span>}
          <AnnouncementStatusBadge status={status} />
          <CopyIcon text={cidr} label="Copy prefix" />
        </Group>
      }
      actions={
        <>
          <CheckNow id={id} />
          <DeleteButton announcement={announcement} />
        </>
      }
    >
      <Messages announcement={announcement} onShowChecks={showChecks} />
      {status === 'ready' && (
        <Alert color="ok" title="All checks passed">
          Enable it when you are ready.
        </Alert>
      )}
      <Regions announcement={announcement} onChange={ask} />
      <Visibility announcement={announcement} />
      <Tabs ref={tabsElement} value={tab} onChange={setTab} keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="checks">Checks</Tabs.Tab>
          <Tabs.Tab value="letters">Letters of authorization</Tabs.Tab>
          <Tabs.Tab value="history">History</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="checks" pt="md">
          <Validations announcement={announcement} />
        </Tabs.Panel>
        <Tabs.Panel value="letters" pt="md">
          <Letters announcement={announcement} />
        </Tabs.Panel>
        <Tabs.Panel value="history" pt="md">
          <History id={id} />
        </Tabs.Panel>
      </Tabs>
      {change && <EnableDialog announcement={announcement} change={change} opened={asking} onClose={close} />}
    </Page>
  )
}

function CheckNow({ id }: { id: number }) {
  const check = useMutation({
    mutationFn: () => call(validateAnnouncementRoute, { params: { announcement_id: id } }),
    onSuccess: () => {
      notifySuccess('Checks started.')
      return invalidate(getAnnouncementRoute, listAnnouncementsRoute)
    },
    onError: notifyProblem,
  })
  return (
    <Button
      variant="default"
      leftSection={<IconRefresh size={14} />}
      loading={check.isPending}
      onClick={() => check.mutate()}
    >
      Check now
    </Button>
  )
}
