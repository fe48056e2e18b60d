// Desired against observed: where it is wanted, what the router of each region shows, and how long each step took.
import { Card, Group, Stack, Switch, Table, Text } from '@mantine/core'
import {
  listRegionsRoute,
  type Announcement,
  type Region,
  type RegionStateOfAnnouncement,
} from '@pharos/contract/byoip'
import { useAnswer } from '../api/queries.ts'
import { RegionStateBadge } from '../ui/status.tsx'
import { formatDuration, Time, WithTimes } from '../ui/time.tsx'
import { nextStep } from './next-step.ts'
import type { Wanted } from './switch-dialog.tsx'
import classes from './announcements.module.css'

type Props = { announcement: Announcement; onAsk: (wanted: Wanted) => void }

export function Regions({ announcement, onAsk }: Props) {
  const { enabled, details, region_states: states = [], regions } = announcement
  const open = useAnswer(listRegionsRoute, { query: { limit: 1000 } })
  const known = new Map(open.data?.results.map((region) => [region.slug, region]))
  const seen = new Set(states.map(({ region }) => region))
  const untouched = [...known.keys()].filter((slug) => !seen.has(slug))
  const isBarred = details?.suspended === true && !enabled
  return (
    <Card component="section" aria-label="Where it is announced">
      <Stack gap="sm">
        <Group justify="space-between">
          <Switch
            label={enabled ? 'Announced by your wish' : 'Not to be announced'}
            checked={enabled}
            disabled={isBarred}
            onChange={() => onAsk({ enabled: !enabled })}
          />
          <Text size="xs" c="dimmed">
            {isBarred
              ? 'Suspended: only the provider can end that.'
              : wish(enabled, regions, [...known.keys()])}
          </Text>
        </Group>
        <Table.ScrollContainer minWidth={860}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Region</Table.Th>
                <Table.Th>Wanted</Table.Th>
                <Table.Th>Seen on the router</Table.Th>
                <Table.Th>Asked for</Table.Th>
                <Table.Th>So since</Table.Th>
                <Table.Th ta="right">Took</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {states.map((state) => (
                <Row
                  key={state.region}
                  state={state}
                  region={known.get(state.region)}
                  isBarred={isBarred}
                  onAsk={onAsk}
                />
              ))}
              {untouched.map((slug) => (
                <Table.Tr key={slug}>
                  <Table.Td>
                    <RegionName slug={slug} region={known.get(slug)} />
                  </Table.Td>
                  <Table.Td>
                    <Switch
                      size="xs"
                      aria-label={`Announce in ${slug}`}
                      checked={false}
                      disabled={isBarred}
                      onChange={() => onAsk({ enabled: true, region: slug })}
                    />
                  </Table.Td>
                  <Table.Td colSpan={4}>
                    <Text span size="sm" c="dimmed">
                      not announced here
                    </Text>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      </Stack>
    </Card>
  )
}

/** What the great switch stands for. */
function wish(enabled: boolean, regions: readonly string[], open: readonly string[]): string {
  const where = regions.length > 0 ? regions.join(', ') : `all regions open to the team: ${open.join(', ')}`
  return enabled ? `Wanted in ${where}` : `Switched on, it goes out in ${where}`
}

const RegionName = ({ slug, region }: { slug: string; region: Region | undefined }) => (
  <>
    {slug}{' '}
    {region && (
      <Text span size="xs" c="dimmed" visibleFrom="xs">
        {region.name}
      </Text>
    )}
  </>
)

type RowProps = {
  state: RegionStateOfAnnouncement
  region: Region | undefined
  isBarred: boolean
  onAsk: Props['onAsk']
}

function Row({ state: row, region, isBarred, onAsk }: RowProps) {
  const { region: slug, desired, state, since, message, requested, took_ms: took } = row
  const next = nextStep(row)
  return (
    <Table.Tr>
      <Table.Td>
        <RegionName slug={slug} region={region} />
      </Table.Td>
      <Table.Td>
        <Switch
          size="xs"
          aria-label={`Announce in ${slug}`}
          checked={desired}
          disabled={isBarred && !desired}
          onChange={() => onAsk({ enabled: !desired, region: slug })}
        />
      </Table.Td>
      <Table.Td maw={380}>
        <RegionStateBadge state={state} />
        {message && (
          <Text size="sm">
            <WithTimes text={message} />
          </Text>
        )}
        {next && (
          <Text size="xs" c="dimmed">
            {next}
          </Text>
        )}
      </Table.Td>
      <Table.Td className={classes['one-line']!}>
        <Time at={requested} />
      </Table.Td>
      <Table.Td className={classes['one-line']!}>
        <Time at={since} />
      </Table.Td>
      <Table.Td ta="right" className={classes['one-line']!}>
        {took === null ? (
          <Text span c="dimmed">
            –
          </Text>
        ) : (
          formatDuration(took)
        )}
      </Table.Td>
    </Table.Tr>
  )
}
