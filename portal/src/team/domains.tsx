// The team's domains: the record that verifies each, and whether people with an address at it join automatically.
import { Button, Card, Group, Skeleton, Stack, Switch, Text, Title } from '@mantine/core'
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
import { call } from '../api/call.ts'
import { invalidate, useAnswer } from '../api/queries.ts'
import { useIsAdmin } from '../api/use-session.ts'
import { CopyIcon } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/empty.tsx'
import { text } from '../ui/form-text-widgets.tsx'
import { toggle } from '../ui/form-widgets.tsx'
import { notifyProblem } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { StatePill } from '../ui/status.tsx'
import { words } from './words.ts'

const team = { team_id: 'current' } as const
const joinLabel = words.domain.join
const declared = {
  domain: text({ label: words.domain.domain, help: words.domain.help, placeholder: 'acme.net' }),
  auto_join: toggle({ label: joinLabel }),
}

const results: Record<DomainCheckResult, string> = {
  valid: 'Record found.',
  missing: 'Record not found yet.',
  mismatch: 'The record exists with a different value.',
  unavailable: 'The name servers did not respond.',
  claimed: 'Record found, but another team has already verified this domain. Contact the provider.',
}

export function Domains() {
  const isAdmin = useIsAdmin()
  const answer = useAnswer(
    listDomainsRoute,
    { params: team, query: { limit: 1000 } },
    { refetchInterval: 15_000 },
  )
  return (
    <Stack>
      {isAdmin && (
        <Group>
          <AddDomain />
        </Group>
      )}
      {answer.error && !answer.data && <Problem error={answer.error} retry={answer.refetch} />}
      {answer.isPending && <Skeleton height={120} />}
      {answer.data?.count === 0 && (
        <Empty title="No domains yet">
          People with an e-mail address at a verified domain can join without an invitation.
        </Empty>
      )}
      {answer.data?.results.map((domain) => (
        <DomainCard key={domain.id} domain={domain} isAdmin={isAdmin} />
      ))}
    </Stack>
  )
}

const AddDomain = () => (
  <Dialog
    title={words.domain.add}
    action={words.domain.add}
    route={addDomainRoute}
    declared={declared}
    initialValues={{ domain: '', auto_join: false }}
    trigger={(open) => (
      <Button leftSection={<IconPlus size={14} />} onClick={open}>
        {words.domain.add}
      </Button>
    )}
    onSubmit={async ({ domain, auto_join }) => {
      await call(addDomainRoute, { params: team, body: { domain: domain.trim(), auto_join } })
      await invalidate(listDomainsRoute)
    }}
  />
)

function DomainCard({ domain: one, isAdmin }: { domain: Domain; isAdmin: boolean }) {
  const { id, domain, verified, last_check, last_check_result, auto_join } = one
  const params = { ...team, domain_id: id }
  const check = useMutation({
    mutationFn: () => call(verifyDomainRoute, { params }),
    onSettled: () => invalidate(listDomainsRoute),
    onError: notifyProblem,
  })
  const join = useMutation({
    mutationFn: () => call(updateDomainRoute, { params, body: { auto_join: !auto_join } }),
    onSuccess: () => invalidate(listDomainsRoute),
    onError: notifyProblem,
  })
  return (
    <Card component="section" aria-label={domain}>
      <Group justify="space-between">
        <Group gap="xs">
          <Title order={2} size="md">
            {domain}
          </Title>
          {verified ? (
            <StatePill color="ok">Verified</StatePill>
          ) : (
            <StatePill color="warn">Not verified</StatePill>
          )}
        </Group>
        {isAdmin && (
          <Group gap="xs">
            <Button variant="default" loading={check.isPending} onClick={() => check.mutate()}>
              Check now
            </Button>
            <RemoveDomain domain={one} />
          </Group>
        )}
      </Group>
      {!verified && <Record domain={one} />}
      <Group justify="space-between" mt="sm">
        <Switch
          size="xs"
          label={joinLabel}
          checked={auto_join}
          disabled={!isAdmin || join.isPending}
          onChange={() => join.mutate()}
        />
        <Text size="xs" c="dimmed">
          {last_check_result && results[last_check_result]} Last checked:{' '}
          <Time at={last_check} none="never" />
        </Text>
      </Group>
    </Card>
  )
}

const RemoveDomain = ({ domain: { id, domain } }: { domain: Domain }) => (
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
      await call(removeDomainRoute, { params: { ...team, domain_id: id } })
      await invalidate(listDomainsRoute)
    }}
  >
    <Text size="sm">Existing members stay. New people can no longer join through this domain.</Text>
  </Dialog>
)

const Record = ({ domain: { record_name, record_value } }: { domain: Domain }) => (
  <Stack gap={4} mt="sm">
    <Text size="sm">Create this TXT record. We check every minute.</Text>
    {[
      ['Copy name', record_name],
      ['Copy value', record_value],
    ].map(([label, text]) => (
      <Group key={label} gap="xs" wrap="nowrap">
        <Text size="sm" ff="monospace" truncate>
          {text}
        </Text>
        <CopyIcon text={text!} label={label!} />
      </Group>
    ))}
  </Stack>
)
