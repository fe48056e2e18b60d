// What the team says of itself, and whether its members need a second factor.
import {
  Button,
  Card,
  Group,
  Select,
  SimpleGrid,
  Skeleton,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { getTeamRoute, updateTeamRoute, type Team, type TeamChanges } from '@pharos/contract/team'
import { useMutation } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { call } from '../api/call.ts'
import { forget, useAnswer } from '../api/queries.ts'
import { fieldError, Problem, tell } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import type { RoomProps } from './team.tsx'

const params = { team_id: 'current' } as const
const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]

export function TeamSettings({ isAdmin }: RoomProps) {
  const answer = useAnswer(getTeamRoute, { params })
  if (answer.error) return <Problem error={answer.error} />
  if (!answer.data) return <Skeleton height={240} />
  return <Form key={answer.data.id} team={answer.data} isAdmin={isAdmin} />
}

type Draft = Required<TeamChanges>

const draftOf = ({
  name,
  description,
  billing_email,
  technical_email,
  abuse_email,
  noc_phone,
  country,
  timezone,
  require_2fa,
}: Team): Draft => ({
  name,
  description,
  billing_email,
  technical_email,
  abuse_email,
  noc_phone,
  country,
  timezone,
  require_2fa,
})

/** Only what differs is sent: what a colleague changed meanwhile stays. */
const changesOf = (draft: Draft, team: Team): TeamChanges =>
  Object.fromEntries(Object.entries(draft).filter(([name, value]) => value !== team[name as keyof Draft]))

function Form({ team, isAdmin }: { team: Team; isAdmin: boolean }) {
  const [draft, setDraft] = useState(() => draftOf(team))
  const changes = changesOf(draft, team)
  const save = useMutation({
    mutationFn: () => call(updateTeamRoute, { params, body: changes }),
    onSuccess: async ({ body }) => {
      setDraft(draftOf(body))
      await forget(getTeamRoute)
      tell('Saved.')
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  const field = (name: Exclude<keyof Draft, 'require_2fa'>, label: string, rest: object = {}) => (
    <TextInput
      label={label}
      readOnly={!isAdmin}
      value={draft[name]}
      error={fieldError(save.error, name)}
      onChange={(event) => setDraft({ ...draft, [name]: event.currentTarget.value })}
      {...rest}
    />
  )
  return (
    <form onSubmit={submit}>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Card>
          <Stack gap="xs">
            {field('name', 'Name', { required: true })}
            <Textarea
              label="Description"
              autosize
              minRows={2}
              readOnly={!isAdmin}
              value={draft.description}
              onChange={(event) => setDraft({ ...draft, description: event.currentTarget.value })}
            />
            {field('country', 'Country', { maxLength: 2, description: 'two capital letters, such as NL' })}
            <Select
              label="Time zone"
              searchable
              data={zones}
              readOnly={!isAdmin}
              value={draft.timezone}
              onChange={(timezone) => timezone && setDraft({ ...draft, timezone })}
              limit={100}
            />
            <Text size="xs" c="dimmed">
              {team.slug} · {team.member_count} members · since <Time at={team.created} />
            </Text>
            {team.asns.length > 0 && (
              <Text size="xs" c="dimmed">
                {team.asns
                  .map(({ asn, verified }) => `AS${asn}${verified ? '' : ' (not proved)'}`)
                  .join(', ')}
              </Text>
            )}
          </Stack>
        </Card>
        <Card>
          <Stack gap="xs">
            {field('technical_email', 'Technical contact', { type: 'email' })}
            {field('abuse_email', 'Abuse contact', { type: 'email' })}
            {field('billing_email', 'Billing contact', { type: 'email' })}
            {field('noc_phone', 'Telephone of the NOC', { type: 'tel', placeholder: '+31 20 123 4567' })}
            <Switch
              mt="sm"
              label="Members need a second factor"
              description="Whoever has none reaches only the own account until there is one"
              disabled={!isAdmin}
              checked={draft.require_2fa}
              onChange={(event) => setDraft({ ...draft, require_2fa: event.currentTarget.checked })}
            />
          </Stack>
        </Card>
      </SimpleGrid>
      <Stack mt="md">
        {save.error && <Problem error={save.error} />}
        {isAdmin && (
          <Group>
            <Button type="submit" disabled={Object.keys(changes).length === 0} loading={save.isPending}>
              Save
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  )
}
