// Desired against observed: where the announcement is enabled, the observed state of each region's routers, since when, and how long the
// last change took.
import { Group, Stack, Switch, Table, Text } from '@mantine/core'
import type { Announcement, Region, RegionStateOfAnnouncement } from '@pharos/contract/byoip/announcement'
import { onlyWith, useGrant } from '../api/use-grant.ts'
import { Dimmed } from '../ui/cells.tsx'
import { Section } from '../ui/section.tsx'
import { RegionStatePill } from '../ui/status.tsx'
import { formatDuration, Time, WithTimes } from '../ui/time.tsx'
import classes from './announcements.module.css'
import { blockedReason } from './condition.ts'
import type { Change } from './enable-dialog.tsx'
import { nextStep } from './next-step.ts'
import { Evidence, useEvidence, type StaffEvidence } from './region-evidence.tsx'
import { targetText } from './region-target.ts'
import { words } from './words.ts'

const { regions: texts } = words

type Props = {
  announcement: Announcement
  /** Those open to the team. */
  regions: readonly Region[]
  onChange: (change: Change) => void
}

export function Regions({ announcement, regions, onChange }: Props) {
  const { cidr, enabled, region_states: states = [] } = announcement
  const known = new Map(regions.map((region) => [region.slug, region]))
  const seen = new Set(states.map(({ region }) => region))
  const untouched = regions.filter(({ slug }) => !seen.has(slug))
  const blocked = blockedReason(announcement)
  const canOperate = useGrant('ipam.operate')
  const reason = canOperate ? blocked : onlyWith('ipam.operate')
  const isBlocked = reason !== undefined
  const evidence = useEvidence(announcement)
  return (
    <Section title={texts.title}>
      <Stack gap="sm">
        <Group gap="xs" justify="space-between">
          <Switch
            label={texts.announce(cidr)}
            checked={enabled}
            disabled={!canOperate || (isBlocked && !enabled)}
            onChange={() => onChange({ enabled: !enabled })}
          />
          <Text size="sm" c="dimmed">
            {!canOperate || (isBlocked && !enabled) ? reason : targetText(announcement, regions)}
          </Text>
        </Group>
        <Table.ScrollContainer minWidth={660} type="native" tabIndex={0}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{texts.region}</Table.Th>
                <Table.Th>{texts.desired}</Table.Th>
                <Table.Th>{texts.observed}</Table.Th>
                <Table.Th>{texts.since}</Table.Th>
                <Table.Th>{texts.took}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {states.map((state) => (
                <Row
                  key={state.region}
                  state={state}
                  region={known.get(state.region)}
                  evidence={evidence.get(state.region)}
                  canOperate={canOperate}
                  isBlocked={isBlocked}
                  onChange={onChange}
                />
              ))}
              {untouched.map((region) => (
                <UntouchedRow key={region.slug} region={region} isBlocked={isBlocked} onChange={onChange} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      </Stack>
    </Section>
  )
}

const RegionName = ({ slug, region }: { slug: string; region: Region | undefined }) => (
  <span className={classes['one-line']}>
    {region?.name ?? slug} {region && <Dimmed>{slug}</Dimmed>}
  </span>
)

type UntouchedRowProps = { region: Region; isBlocked: boolean; onChange: Props['onChange'] }

/** A region in which the prefix was never announced. */
const UntouchedRow = ({ region, isBlocked, onChange }: UntouchedRowProps) => (
  <Table.Tr>
    <Table.Td>
      <RegionName slug={region.slug} region={region} />
    </Table.Td>
    <Table.Td>
      <Switch
        size="xs"
        aria-label={texts.announceIn(region.name)}
        checked={false}
        disabled={isBlocked}
        onChange={() => onChange({ enabled: true, region: region.slug })}
      />
    </Table.Td>
    <Table.Td colSpan={3}>
      <Dimmed>{texts.none}</Dimmed>
    </Table.Td>
  </Table.Tr>
)

type RowProps = {
  state: RegionStateOfAnnouncement
  region: Region | undefined
  evidence: StaffEvidence | undefined
  canOperate: boolean
  isBlocked: boolean
  onChange: Props['onChange']
}

function Row({ state: row, region, evidence, canOperate, isBlocked, onChange }: RowProps) {
  const { region: slug, desired, state, since, message } = row
  const next = nextStep(row)
  return (
    <Table.Tr>
      <Table.Td>
        <RegionName slug={slug} region={region} />
      </Table.Td>
      <Table.Td>
        <Switch
          size="xs"
          aria-label={texts.announceIn(region?.name ?? slug)}
          checked={desired}
          disabled={!canOperate || (isBlocked && !desired)}
          onChange={() => onChange({ enabled: !desired, region: slug })}
        />
      </Table.Td>
      <Table.Td maw={320}>
        <RegionStatePill state={state} />
        {message && (
          <Text size="sm" mt={4}>
            <WithTimes text={message} />
          </Text>
        )}
        {next && (
          <Text size="xs" c="dimmed">
            {next}
          </Text>
        )}
        {evidence && <Evidence evidence={evidence} />}
      </Table.Td>
      <Table.Td className={classes['one-line']!}>
        <Time at={since} />
      </Table.Td>
      <Table.Td className={classes['one-line']!}>
        <Took row={row} />
      </Table.Td>
    </Table.Tr>
  )
}

/** The time from the request to the router, as it was measured. */
function Took({ row: { state, requested, took_ms: took } }: { row: RegionStateOfAnnouncement }) {
  if (took === null)
    return requested === null ? (
      <Dimmed>–</Dimmed>
    ) : (
      <Dimmed>
        {texts.waiting} <Time at={requested} />
      </Dimmed>
    )
  return state === 'announced'
    ? texts.announcedAfter(formatDuration(took))
    : texts.withdrawnAfter(formatDuration(took))
}
