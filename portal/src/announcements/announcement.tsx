// One announcement: what is wanted and what was seen, region by region; each check with its reason and its fix; what
// happened to it. A switch says first what it will do.
import { Alert, Button, Card, Group, Skeleton, Stack, Switch, Table, Tabs, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import {
  getAnnouncement,
  listAnnouncements,
  validateAnnouncement,
  type Announcement,
} from '@pharos/contract/byoip'
import { IconRefresh } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { forget, useAnswer } from '../api/queries.ts'
import { CopyIcon } from '../ui/copy.tsx'
import { Page } from '../ui/page.tsx'
import { Problem, tell, tellProblem } from '../ui/problem.tsx'
import { AnnouncementStatusBadge, RegionStateBadge } from '../ui/status.tsx'
import { formatDuration, Time } from '../ui/time.tsx'
import { DeleteButton } from './delete-announcement.tsx'
import { History } from './history.tsx'
import { Letters } from './letters.tsx'
import { SwitchDialog, type Wanted } from './switch-dialog.tsx'
import { Validations } from './validations.tsx'

const include = 'validations,region_states,state_messages,details'

export function AnnouncementPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const params = { announcement_id: Number(id) }
  const answer = useAnswer(getAnnouncement, { params, query: { include } }, { refetchInterval: 3_000 })
  if (answer.error && !answer.data) return <Problem error={answer.error} />
  if (!answer.data) return <Skeleton height={240} />
  return <Shown announcement={answer.data} />
}

function Shown({ announcement }: { announcement: Announcement }) {
  const { id, cidr, origin_asn, status, details, state_messages: messages = [] } = announcement
  const [wanted, setWanted] = useState<Wanted>()
  const [asking, { open, close }] = useDisclosure(false)
  function ask(next: Wanted) {
    setWanted(next)
    open()
  }
  return (
    <Page
      title={cidr}
      note={
        <Group gap="xs">
          AS{origin_asn}
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
      {messages.map(({ tag, severity, message, timestamp }) => (
        <Alert
          key={`${tag} ${timestamp}`}
          color={severity === 'error' ? 'red' : severity === 'warning' ? 'yellow' : 'blue'}
          title={message}
        >
          <Text size="xs" c="dimmed">
            <Time at={timestamp} />
          </Text>
        </Alert>
      ))}
      <Wish announcement={announcement} onAsk={ask} />
      <Tabs defaultValue="checks" keepMounted={false}>
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
    mutationFn: () => call(validateAnnouncement, { params: { announcement_id: id } }),
    onSuccess: () => {
      tell('The registries are being asked.')
      return forget(getAnnouncement, listAnnouncements)
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

/** Desired against observed. */
function Wish({ announcement, onAsk }: { announcement: Announcement; onAsk: (wanted: Wanted) => void }) {
  const { enabled, region_states: regions = [] } = announcement
  return (
    <Card>
      <Stack gap="sm">
        <Switch
          label={enabled ? 'Announced by your wish' : 'Not to be announced'}
          checked={enabled}
          onChange={() => onAsk({ enabled: !enabled })}
        />
        <Table.ScrollContainer minWidth={560}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Region</Table.Th>
                <Table.Th>Wanted</Table.Th>
                <Table.Th>Seen on the router</Table.Th>
                <Table.Th>Since</Table.Th>
                <Table.Th>Took</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {regions.map(({ region, desired, state, since, message, took_ms: took }) => (
                <Table.Tr key={region}>
                  <Table.Td>{region}</Table.Td>
                  <Table.Td>
                    <Switch
                      size="xs"
                      aria-label={`Announce in ${region}`}
                      checked={desired}
                      onChange={() => onAsk({ enabled: !desired, region })}
                    />
                  </Table.Td>
                  <Table.Td>
                    <RegionStateBadge state={state} />
                    {message && (
                      <Text size="xs" c="dimmed">
                        {message}
                      </Text>
                    )}
                  </Table.Td>
                  <Table.Td>
                    <Time at={since} />
                  </Table.Td>
                  <Table.Td>{took === null ? '–' : formatDuration(took)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      </Stack>
    </Card>
  )
}
