// Domains of the team: each with the record that proves it, and whether its people join by themselves.
import { Badge, Button, Card, Group, Skeleton, Stack, Switch, Text, TextInput } from '@mantine/core'
import {
  addDomainRoute,
  listDomainsRoute,
  removeDomainRoute,
  updateDomainRoute,
  verifyDomainRoute,
  type Domain,
  type DomainCheckResult,
} from '@pharos/contract/domain'
import { IconPlus } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { forget, useAnswer } from '../api/queries.ts'
import { CopyIcon } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/empty.tsx'
import { fieldError, Problem, tellProblem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import type { RoomProps } from './team.tsx'

const team = { team_id: 'current' } as const

const results: Record<DomainCheckResult, string> = {
  valid: 'The record was found.',
  missing: 'There is no such record yet.',
  mismatch: 'There is a record with another text.',
  unavailable: 'The name servers did not answer.',
  claimed: 'The record was found, but another team has proved the domain: ask the provider.',
}

export function Domains({ isAdmin }: RoomProps) {
  const answer = useAnswer(
    listDomainsRoute,
    { params: team, query: { limit: 1000 } },
    { refetchInterval: 15_000 },
  )
  return (
    <Stack>
      {isAdmin && (
        <Group>
          <Add />
        </Group>
      )}
      {answer.error && <Problem error={answer.error} />}
      {answer.isPending && <Skeleton height={120} />}
      {answer.data?.count === 0 && (
        <Empty title="No domains">
          A proved domain lets your people join by themselves, by their e-mail address.
        </Empty>
      )}
      {answer.data?.results.map((domain) => (
        <DomainCard key={domain.id} domain={domain} isAdmin={isAdmin} />
      ))}
    </Stack>
  )
}

function Add() {
  const [domain, setDomain] = useState('')
  const [joins, setJoins] = useState(false)
  return (
    <Dialog
      title="Add a domain"
      action="Add it"
      trigger={(open) => (
        <Button leftSection={<IconPlus size={14} />} onClick={open}>
          Add a domain
        </Button>
      )}
      onClose={() => {
        setDomain('')
        setJoins(false)
      }}
      onSubmit={async () => {
        await call(addDomainRoute, { params: team, body: { domain, auto_join: joins } })
        await forget(listDomainsRoute)
      }}
    >
      {(error) => (
        <>
          <TextInput
            label="Domain"
            description="You get a TXT record to create, which proves it"
            placeholder="acme.net"
            required
            data-autofocus
            value={domain}
            error={fieldError(error, 'domain')}
            onChange={(event) => setDomain(event.currentTarget.value.trim())}
          />
          <Switch
            size="xs"
            label="Once it is proved, who signs in with an address of it becomes a member"
            checked={joins}
            onChange={(event) => setJoins(event.currentTarget.checked)}
          />
        </>
      )}
    </Dialog>
  )
}

function DomainCard({ domain: one, isAdmin }: { domain: Domain; isAdmin: boolean }) {
  const { id, domain, verified, record_name, record_value, last_check, last_check_result, auto_join } = one
  const params = { ...team, domain_id: id }
  const check = useMutation({
    mutationFn: () => call(verifyDomainRoute, { params }),
    onSettled: () => forget(listDomainsRoute),
    onError: tellProblem,
  })
  const join = useMutation({
    mutationFn: () => call(updateDomainRoute, { params, body: { auto_join: !auto_join } }),
    onSuccess: () => forget(listDomainsRoute),
    onError: tellProblem,
  })
  return (
    <Card component="section" aria-label={domain}>
      <Group justify="space-between">
        <Group gap="xs">
          <Text fw={600}>{domain}</Text>
          {verified ? <Badge color="teal">proved</Badge> : <Badge color="yellow">not proved</Badge>}
        </Group>
        {isAdmin && (
          <Group gap="xs">
            <Button variant="default" loading={check.isPending} onClick={() => check.mutate()}>
              Check now
            </Button>
            <Dialog
              title={`Remove ${domain}?`}
              action="Remove"
              danger
              trigger={(open) => (
                <Button variant="default" onClick={open}>
                  Remove
                </Button>
              )}
              onSubmit={async () => {
                await call(removeDomainRoute, { params })
                await forget(listDomainsRoute)
              }}
            >
              <Text size="sm">Whoever joined by it stays a member; nobody joins by it any more.</Text>
            </Dialog>
          </Group>
        )}
      </Group>
      {!verified && (
        <Stack gap={4} mt="sm">
          <Text size="sm">Create this TXT record; it is looked for every minute:</Text>
          <Group gap="xs" wrap="nowrap">
            <Text size="sm" ff="monospace" truncate>
              {record_name}
            </Text>
            <CopyIcon text={record_name} label="Copy the name" />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <Text size="sm" ff="monospace" truncate>
              {record_value}
            </Text>
            <CopyIcon text={record_value} label="Copy the text" />
          </Group>
        </Stack>
      )}
      <Group justify="space-between" mt="sm">
        <Switch
          size="xs"
          label="Who signs in with a confirmed address of it becomes a member"
          checked={auto_join}
          disabled={!isAdmin || join.isPending}
          onChange={() => join.mutate()}
        />
        <Text size="xs" c="dimmed">
          {last_check_result && results[last_check_result]} looked at <Time at={last_check} none="never" />
        </Text>
      </Group>
    </Card>
  )
}
