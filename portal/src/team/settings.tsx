// The settings of the team: name, contacts and time zone, and whether members need two-factor authentication.
import { Card, Select, SimpleGrid, Skeleton, Stack, Switch, Text, Textarea, TextInput } from '@mantine/core'
import { getTeamRoute, updateTeamRoute, type Team, type TeamChanges } from '@pharos/contract/team'
import { call } from '../api/call.ts'
import { invalidate, useAnswer } from '../api/queries.ts'
import { useIsAdmin } from '../api/use-session.ts'
import { useRequestForm } from '../ui/form.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { SubmitButton } from '../ui/submit-button.tsx'
import { Time } from '../ui/time.tsx'

const params = { team_id: 'current' } as const
const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]

export function TeamSettings() {
  const answer = useAnswer(getTeamRoute, { params })
  if (answer.error) return <Problem error={answer.error} />
  if (!answer.data) return <Skeleton height={240} />
  return <SettingsForm key={answer.data.id} team={answer.data} />
}

type Values = Required<TeamChanges>

const valuesOf = ({
  name,
  description,
  billing_email,
  technical_email,
  abuse_email,
  noc_phone,
  country,
  timezone,
  require_2fa,
}: Team): Values => ({
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

/** Only differences are sent, so that a colleague's change of another field stays. */
const changesOf = (values: Values, team: Team): TeamChanges =>
  Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== team[name as keyof Values]))

function SettingsForm({ team }: { team: Team }) {
  const isAdmin = useIsAdmin()
  const form = useRequestForm({
    initialValues: valuesOf(team),
    request: async (values) => (await call(updateTeamRoute, { params, body: changesOf(values, team) })).body,
    onSuccess: async (saved) => {
      form.restart(valuesOf(saved))
      await invalidate(getTeamRoute)
      notifySuccess('Saved.')
    },
  })
  const { fields } = form
  const field = (name: keyof Values) => ({ readOnly: !isAdmin, ...fields.getInputProps(name) })
  return (
    <form onSubmit={form.submit}>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Card>
          <Stack gap="xs">
            <TextInput label="Name" required {...field('name')} />
            <Textarea label="Description" autosize minRows={2} {...field('description')} />
            <TextInput
              label="Country"
              description="Two-letter code, such as NL"
              maxLength={2}
              {...field('country')}
            />
            <Select
              label="Time zone"
              searchable
              allowDeselect={false}
              data={zones}
              limit={100}
              {...field('timezone')}
            />
            <Text size="xs" c="dimmed">
              {team.slug} · {team.member_count} {team.member_count === 1 ? 'member' : 'members'} · since{' '}
              <Time at={team.created} />
            </Text>
            {team.asns.length > 0 && (
              <Text size="xs" c="dimmed">
                {team.asns
                  .map(({ asn, verified }) => `AS${asn}${verified ? '' : ' (not verified)'}`)
                  .join(', ')}
              </Text>
            )}
          </Stack>
        </Card>
        <Card>
          <Stack gap="xs">
            <TextInput label="Technical contact" type="email" {...field('technical_email')} />
            <TextInput label="Abuse contact" type="email" {...field('abuse_email')} />
            <TextInput label="Billing contact" type="email" {...field('billing_email')} />
            <TextInput label="NOC phone" type="tel" placeholder="+31 20 123 4567" {...field('noc_phone')} />
            <Switch
              mt="sm"
              label="Require two-factor authentication"
              description="Members without it can only open their own account until they set it up."
              disabled={!isAdmin}
              {...fields.getInputProps('require_2fa', { type: 'checkbox' })}
            />
          </Stack>
        </Card>
      </SimpleGrid>
      <Stack mt="md" align="flex-start">
        {form.problem !== undefined && <Problem error={form.problem} />}
        {isAdmin && (
          <SubmitButton form={form} disabled={Object.keys(changesOf(fields.values, team)).length === 0}>
            Save
          </SubmitButton>
        )}
      </Stack>
    </form>
  )
}
