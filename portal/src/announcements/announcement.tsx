// One announcement: what is wanted and what was seen, region by region; each check with its reason and its fix; what
// happened to it. A switch says first what it will do. Which part is shown stands in the address.
import { Alert, Anchor, Button, Group, Skeleton, Tabs } from '@mantine/core'
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
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { answerOf, forget } from '../api/queries.ts'
import { CopyIcon } from '../ui/copy.tsx'
import { Page } from '../ui/page.tsx'
import { Problem, tell, tellProblem } from '../ui/problem.tsx'
import { AnnouncementStatusBadge } from '../ui/status.tsx'
import { DeleteButton } from './delete-announcement.tsx'
import { DeletedAnnouncement } from './deleted-announcement.tsx'
import { History } from './history.tsx'
import { Letters } from './letters.tsx'
import { Messages } from './messages.tsx'
import { Regions } from './regions.tsx'
import { SwitchDialog, type Wanted } from './switch-dialog.tsx'
import { Validations } from './validations.tsx'

const include = 'validations,region_states,state_messages,details'

const isNotFound = (error: unknown) => error instanceof ProblemError && error.problem.code === 'not_found'

export function AnnouncementPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const params = { announcement_id: Number(id) }
  const answer = useQuery({
    ...answerOf(getAnnouncementRoute, { params, query: { include } }),
    // A single check, or a region that says why it waits, changes no status, which is all that the stream tells of.
    refetchInterval: ({ state }) => !isNotFound(state.error) && 3_000,
  })
  // Deleted in the meantime, or before: what was read of it then is old.
  if (isNotFound(answer.error)) return <DeletedAnnouncement id={Number(id)} error={answer.error} />
  if (answer.error && !answer.data) return <Problem error={answer.error} />
  if (!answer.data) return <Skeleton height={240} />
  return <Shown announcement={answer.data} />
}

const tabs = ['checks', 'letters', 'history'] as const

function useTab() {
  const { tab } = useSearch({ strict: false }) as { tab?: string }
  const navigate = useNavigate()
  const setTab = (next: string | null) =>
    void navigate({
      to: '.',
      search: (next === null || next === tabs[0] ? {} : { tab: next }) as never,
      replace: true,
    })
  return { tab: tabs.find((one) => one === tab) ?? tabs[0], setTab }
}

function Shown({ announcement }: { announcement: Announcement }) {
  const { id, cidr, origin_asn, status, details } = announcement
  const [wanted, setWanted] = useState<Wanted>()
  const [asking, { open, close }] = useDisclosure(false)
  const { tab, setTab } = useTab()
  function ask(next: Wanted) {
    setWanted(next)
    open()
  }
  return (
    <Page
      title={cidr}
      note={
        <Group gap="xs">
          <Anchor component={Link} to="/asns/$asn" params={{ asn: String(origin_asn) } as never} size="sm">
            AS{origin_asn}
          </Anchor>
          {details?.as_set && <span>· {details.as_set}</span>}
          {details?.description && <span>· {details.description}</span>}
          <AnnouncementStatusBadge status={status} />
          <CopyIcon text={cidr} label="Copy the prefix" />
        </Group>
      }
      actions={
        <>
          <CheckNow id={id} />
          <DeleteButton announcement={announcement} />
        </>
      }
    >
      <Messages announcement={announcement} onShowChecks={() => setTab('checks')} />
      {status === 'ready' && (
        <Alert color="teal" title="Every check has passed">
          Switch it on when you want it announced.
        </Alert>
      )}
      <Regions announcement={announcement} onAsk={ask} />
      <Tabs value={tab} onChange={setTab} keepMounted={false}>
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
      {wanted && <SwitchDialog announcement={announcement} wanted={wanted} opened={asking} onClose={close} />}
    </Page>
  )
}

function CheckNow({ id }: { id: number }) {
  const check = useMutation({
    mutationFn: () => call(validateAnnouncementRoute, { params: { announcement_id: id } }),
    onSuccess: () => {
      tell('The registries are being asked.')
      return forget(getAnnouncementRoute, listAnnouncementsRoute)
    },
    onError: tellProblem,
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
