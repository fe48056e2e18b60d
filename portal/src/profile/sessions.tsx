// The user's open sessions; each can be signed out.
import { Button, Group, Skeleton, Table, Text, VisuallyHidden } from '@mantine/core'
import { deleteSessionRoute, listSessionsRoute, type OpenSession } from '@pharos/contract/account'
import { useMutation } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { invalidate, useAnswer } from '../api/queries.ts'
import { session } from '../api/session.ts'
import { useUser } from '../api/use-session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { notifyProblem } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { Section } from '../ui/section.tsx'
import { StatePill } from '../ui/status.tsx'

export function Sessions() {
  const answer = useAnswer(listSessionsRoute, { query: { limit: 100 } }, { refetchInterval: 30_000 })
  return (
    <Section title="Sessions">
      {answer.error && !answer.data && <Problem error={answer.error} retry={answer.refetch} />}
      <Table.ScrollContainer minWidth={900}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Browser</Table.Th>
              <Table.Th>From</Table.Th>
              <Table.Th>Signed in</Table.Th>
              <Table.Th>Last active</Table.Th>
              <Table.Th>Expires</Table.Th>
              <Table.Th>
                <VisuallyHidden>Actions</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {answer.isPending && (
              <Table.Tr>
                <Table.Td colSpan={6}>
                  <Skeleton height={20} />
                </Table.Td>
              </Table.Tr>
            )}
            {answer.data?.results.map((one) => (
              <Row key={one.id} session={one} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Group mt="sm">
        <Dialog
          title="Sign out everywhere?"
          action="Sign out everywhere"
          danger
          trigger={(open) => (
            <Button variant="default" onClick={open}>
              Sign out everywhere
            </Button>
          )}
          onSubmit={() => session.signOut(true)}
        >
          <Text size="sm">
            This signs you out on all devices, including this one. API tokens keep working.
          </Text>
        </Dialog>
      </Group>
    </Section>
  )
}

function Row({
  session: { id, current, user_agent, address, created, last_used, expires, team_id },
}: {
  session: OpenSession
}) {
  const user = useUser()
  const teamName = user?.teams.find((team) => team.id === team_id)?.name ?? `team ${team_id}`
  const end = useMutation({
    mutationFn: () => call(deleteSessionRoute, { params: { session_id: id } }),
    onSuccess: () => invalidate(listSessionsRoute),
    onError: notifyProblem,
  })
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap="xs" wrap="nowrap">
          <Text size="sm" truncate maw={340} title={user_agent}>
            {browserOf(user_agent)}
          </Text>
          {current && <StatePill color="info">This device</StatePill>}
        </Group>
        <Text size="xs" c="dimmed">
          in {teamName}
        </Text>
      </Table.Td>
      <Table.Td>{address || 'Unknown'}</Table.Td>
      <Table.Td>
        <Time at={created} />
      </Table.Td>
      <Table.Td>
        <Time at={last_used} />
      </Table.Td>
      <Table.Td>
        <Time at={expires} />
      </Table.Td>
      <Table.Td>
        {!current && (
          <Button
            variant="subtle"
            color="bad"
            size="compact-xs"
            loading={end.isPending}
            onClick={() => end.mutate()}
          >
            Sign out
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

/** Returns the browser and the operating system of a user agent, which is enough to recognise a session. */
function browserOf(userAgent: string): string {
  const product = /(Firefox|Edg|OPR|Chrome|Safari|curl)\/[\d.]+/
    .exec(userAgent)?.[0]
    ?.replace(/\..*$/, '')
    .replace('/', ' ')
  const system = /(Windows|Mac OS X|Android|iPhone|Linux)/.exec(userAgent)?.[0]
  return product ? [product, system].filter(Boolean).join(', ') : userAgent || 'Unknown'
}
