// Desired against observed: where the announcement is enabled, what the routers of each region carry, and since when.
import { Card, Group, Stack, Switch, Table, Text } from '@mantine/core'
import {
  listRegionsRoute,
  type Announcement,
  type Region,
  type RegionStateOfAnnouncement,
} from '@pharos/contract/byoip'
import { useAnswer } from '../api/queries.ts'
import { RegionStatePill } from '../ui/status.tsx'
import { formatDuration, Time, WithTimes } from '../ui/time.tsx'
import { nextStep } from './next-step.ts'
import type { Change } from './enable-dialog.tsx'
import classes from './announcements.module.css'

type Props = { announcement: Announcement; onChange: (change: Change) => void }

export function Regions({ announcement, onChange }: Props) {
  const { enabled, details, region_states: states = [] } = announcement
  const open = useAnswer(listRegionsRoute, { query: { limit: 1000 } })
  const known = new Map(open.data?.results.map((region) => [region.slug, region]))
  const seen = new Set(states.map(({ region }) => region))
  const untouched = [...known.keys()].filter((slug) => !seen.has(slug))
  const isBlocked = details?.suspended === true && !enabled
  return (
    <Card component="section" aria-label="Regions">
      <Stack gap="sm">
        <Group justify="space-between">
          <Switch
            label="Announce this prefix"
            checked={enabled}
            disabled={isBlocked}
            onChange={() => onChange({ enabled: !enabled })}
          />
          <Text size="xs" c="dimmed">
            {isBlocked ? 'Suspended by the provider' : targetText(announcement, [...known.keys()])}
          </Text>
        </Group>
        <Table.ScrollContainer minWidth={860}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Region</Table.Th>
                <Table.Th>Enabled</Table.Th>
                <Table.Th>Router state</Table.Th>
                <Table.Th>Requested</Table.Th>
                <Table.Th>Since</Table.Th>
                <Table.Th ta="right">Propagation time</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {states.map((state) => (
                <Row
                  key={state.region}
                  state={state}
                  region={known.get(state.region)}
                  isBlocked={isBlocked}
                  onChange={onChange}
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
                      disabled={isBlocked}
                      onChange={() => onChange({ enabled: true, region: slug })}
                    />
                  </Table.Td>
                  <Table.Td colSpan={4}>
                    <Text span size="sm" c="dimmed">
                      Not announced
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

/** Returns the regions that the main switch changes. */
function targetText(
  { enabled, regions, region_states: states = [] }: Announcement,
  open: readonly string[],
): string {
  if (enabled) return `Enabled in ${regions.join(', ')}`
  if (regions.length > 0) return `When enabled, announced in ${regions.join(', ')}`
  return states.length > 0
    ? 'When enabled, announced in the regions that were enabled last'
    : `When enabled, announced in all regions: ${open.join(', ')}`
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
  isBlocked: boolean
  onChange: Props['onChange']
}

function Row({ state: row, region, isBlocked, onChange }: RowProps) {
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
          disabled={isBlocked && !desired}
          onChange={() => onChange({ enabled: !desired, region: slug })}
        />
      </Table.Td>
      <Table.Td maw={380}>
        <RegionStatePill state={state} />
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
